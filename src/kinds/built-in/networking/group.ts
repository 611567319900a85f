import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import {
  AGE,
  column,
  count,
  NAME,
  optionalText,
  printFirst,
  read,
  readObjects,
  readText,
  readTexts,
  selector,
  sortedSet,
  text,
} from "../cells.ts";
import { defineKinds, deprecatedVersion, STATUS } from "../row.ts";
import { ipAddressHooks, serviceCidrHooks } from "./addresses.ts";
import { ingressHooks } from "./ingress.ts";
import { ingressClassHooks } from "./ingress-class.ts";
import { networkPolicyHooks } from "./network-policy.ts";

function printHosts(ingress: KubeObject): string {
  const rules = readObjects(ingress, ".spec.rules");
  const hosts = rules.map((rule) => readText(rule, ".host")).filter((host) => host !== "");
  return hosts.length === 0 ? "*" : printFirst(hosts, 3);
}

function printAddresses(ingress: KubeObject): string {
  const points = readObjects(ingress, ".status.loadBalancer.ingress");
  const addresses = points.map((point) => readText(point, ".ip") || readText(point, ".hostname"));
  return sortedSet(addresses.filter((address) => address !== "")).join(",");
}

const tlsCount = count(".spec.tls");

function printParameters(ingressClass: KubeObject): string {
  const parameters = read(ingressClass, ".spec.parameters");
  if (parameters === undefined) return "<none>";
  const group = readText(parameters, ".apiGroup");
  return `${readText(parameters, ".kind")}${group === "" ? "" : `.${group}`}/${readText(parameters, ".name")}`;
}

const DEFAULT_ANNOTATION = "ingressclass.kubernetes.io/is-default-class";

function printClassName(ingressClass: KubeObject): string {
  const { name = "", annotations } = ingressClass.metadata;
  return annotations?.[DEFAULT_ANNOTATION] === "true" ? `${name} (default)` : name;
}

function printParent(address: KubeObject): string {
  const parent = read(address, ".spec.parentRef");
  if (parent === undefined) return "<none>";
  const group = readText(parent, ".group");
  const resource = `${readText(parent, ".resource")}${group === "" ? "" : `.${group}`}`.toLowerCase();
  return [resource, readText(parent, ".namespace"), readText(parent, ".name")].filter((part) => part !== "").join("/");
}

const OLD = deprecatedVersion("v1beta1", "1.34", "1.37");

/** The kinds of networking.k8s.io: Ingress, IngressClass, NetworkPolicy, IPAddress and ServiceCIDR. */
export const networkingKinds: ResourceDefinition[] = defineKinds(
  { group: "networking.k8s.io", schemaPackage: "io.k8s.api.networking" },
  [
    {
      kind: "IngressClass",
      defaults: { "spec.parameters.scope": "Cluster" },
      plural: "ingressclasses",
      scope: "Cluster",
      versions: ["v1"],
      columns: [
        { ...NAME, cell: printClassName },
        column("Controller", "string", text(".spec.controller")),
        column("Parameters", "string", printParameters),
        AGE,
      ],
      rules: { generation: "counted" },
      hooks: ingressClassHooks,
    },
    {
      kind: "Ingress",
      plural: "ingresses",
      shortNames: ["ing"],
      versions: ["v1"],
      storage: { prefix: "ingress" },
      subresources: { status: STATUS },
      columns: [
        NAME,
        column("Class", "string", optionalText(".spec.ingressClassName", "<none>")),
        column("Hosts", "string", printHosts),
        column("Address", "string", printAddresses),
        column("Ports", "string", (ingress, now) => (tlsCount(ingress, now) === 0 ? "80" : "80, 443")),
        AGE,
      ],
      rules: { generation: "counted" },
      hooks: ingressHooks,
    },
    {
      kind: "IPAddress",
      plural: "ipaddresses",
      shortNames: ["ip"],
      scope: "Cluster",
      versions: ["v1", OLD],
      columns: [NAME, column("ParentRef", "string", printParent)],
      rules: { nameRule: "canonicalIP" },
      hooks: ipAddressHooks,
    },
    {
      kind: "NetworkPolicy",
      defaults: { "spec.ingress[*].ports[*].protocol": "TCP", "spec.egress[*].ports[*].protocol": "TCP" },
      hooks: networkPolicyHooks,
      plural: "networkpolicies",
      shortNames: ["netpol"],
      versions: ["v1"],
      columns: [NAME, column("Pod-Selector", "string", selector(".spec.podSelector")), AGE],
      rules: { generation: "counted", countsEmpties: true },
    },
    {
      kind: "ServiceCIDR",
      plural: "servicecidrs",
      scope: "Cluster",
      versions: ["v1", OLD],
      subresources: { status: STATUS },
      columns: [NAME, column("CIDRs", "string", (range) => readTexts(range, ".spec.cidrs").join(",")), AGE],
      rules: { statusKeepsMetadata: true },
      hooks: serviceCidrHooks,
    },
  ],
);
