import { admissionOptions } from "../../access/admission/options.ts";
import { auditOptions } from "../../access/audit/options.ts";
import { authenticationOptions } from "../../access/authentication/options.ts";
import { authorizationOptions } from "../../access/authorization/options.ts";
import { type FeatureGateValues, parseFeatureGates } from "../../base/api/feature-gates.ts";
import { logOptions } from "../../base/log/options.ts";
import { flagOnly, libraryOption, option, type Section } from "../../base/options/option.ts";
import {
  addressRanges,
  boolean,
  choice,
  domain,
  file,
  isRecord,
  list,
  programValue,
  text,
  type ValueType,
} from "../../base/options/value-types.ts";
import { DEFAULT_CONTROLLERS } from "../../cluster/controllers/manager/default-controllers.ts";
import { signingOptions } from "../../cluster/controllers/manager/signing-options.ts";
import { nodeOptions } from "../../cluster/nodes/options.ts";
import type { CodedKind } from "../../kinds/custom/coded-kind.ts";
import { aggregationOptions } from "../../serving/aggregation/options.ts";
import { connectOptions } from "../../serving/connect/configuration/options.ts";
import { servingOptions } from "../../serving/options.ts";
import { storageOptions } from "../../storage/options.ts";

const featureGates: ValueType<FeatureGateValues> = {
  name: "FeatureGateValues",
  expected: "an object of feature gates with true or false",
  placeholder: "name=true|false,…",
  accepts: (value) => isRecord(value) && Object.values(value).every((one) => typeof one === "boolean"),
  parse: parseFeatureGates,
};

const kinds = programValue<readonly CodedKind[]>(
  "DefinedKind[]",
  "a list of results of defineKind",
  (value) => Array.isArray(value) && value.every((one) => isRecord(one) && isRecord(one.crd) && isRecord(one.hooks)),
);

/** Options about served APIs and controllers. */
const apiOptions = {
  apiDomain: option("api-domain", domain, "suffix of the names of built-in API groups", { default: "k8s.io" }),
  customObjects: option(
    "custom-objects",
    choice(["open", "defined"]),
    "open: custom objects need no CustomResourceDefinition, unless a CRD or APIService exists for their API group; defined: they do, as in kube-apiserver",
    { default: "open" },
  ),
  kindFiles: flagOnly(
    "kinds",
    list("files", "anything"),
    "TypeScript or JavaScript modules that export kinds made by defineKind",
  ),
  kinds: libraryOption(kinds, "kinds made by defineKind"),
  openapiDescriptions: option(
    "openapi-descriptions",
    file(),
    "OpenAPI document whose descriptions replace Binnacle's in kubectl explain",
  ),
  controllers: option(
    "controllers",
    text("list"),
    "controllers of kube-controller-manager to run in this server: *, none, or names; -name excludes one",
    { default: DEFAULT_CONTROLLERS, shownDefault: "those that the API itself needs" },
  ),
  scheduler: option(
    "scheduler",
    boolean,
    "run the scheduler in this server, while it holds the Lease of kube-scheduler",
    {
      default: false,
    },
  ),
  schedulerConfig: option(
    "scheduler-config",
    file(),
    "KubeSchedulerConfiguration with the profiles of the scheduler and the arguments of its plugins",
  ),
  clusterCidr: option(
    "cluster-cidr",
    addressRanges,
    "range that node-ipam-controller divides among nodes: a /24 for each node, or a /64 for IPv6; one range, or one of each family",
  ),
  ...nodeOptions,
  ...signingOptions,
  featureGates: option(
    "feature-gates",
    featureGates,
    "Kubernetes feature gates to set; docs/reference/feature-gates.md lists them",
    { default: {}, shownDefault: "every gate at its default" },
  ),
  serviceClusterIpRange: option(
    "service-cluster-ip-range",
    addressRanges,
    "range of cluster IPs of Services; its first address is in the serving certificate",
    { default: "10.0.0.0/24" },
  ),
};

/** All options of a server. To add one, declare it in its area. */
export const serverOptions = {
  ...storageOptions,
  ...servingOptions,
  ...apiOptions,
  ...admissionOptions,
  ...authenticationOptions,
  ...authorizationOptions,
  ...connectOptions,
  ...aggregationOptions,
  ...logOptions,
  ...auditOptions,
};

/** The same by the headings of `--help`. */
export const serverSections: readonly Section[] = [
  { heading: "Storage", options: storageOptions },
  { heading: "Addresses, certificates and shutdown", options: servingOptions },
  { heading: "APIs and controllers", options: apiOptions },
  { heading: "Admission", options: admissionOptions },
  { heading: "Authentication", options: authenticationOptions },
  { heading: "Authorization", options: authorizationOptions },
  {
    heading: "Connections to kubelets and extension API servers",
    options: { ...connectOptions, ...aggregationOptions },
  },
  { heading: "Logging and audit", options: { ...logOptions, ...auditOptions } },
];
