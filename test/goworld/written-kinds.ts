import type { Random } from "../model/random.ts";
import { type Answer, Wire } from "../model/wire.ts";

/** A kind that is written to: where its objects are, and what one looks like. */
interface Written {
  readonly folder: string;
  readonly object: (text: string) => Readonly<Record<string, unknown>>;
}

const NAMES = 30;
const labels = { app: "main" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "main" }] } };
const inDefault = (group: string, resource: string) => `${group}/namespaces/default/${resource}`;

const DEFINITION = {
  metadata: { name: "lamps.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "lamps", singular: "lamp", kind: "Lamp" },
    versions: ["v1", "v1beta1"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { spec: { type: "object", properties: { text: { type: "string" } } } },
        },
      },
    })),
  },
};

const KINDS: readonly [Written, ...Written[]] = [
  { folder: inDefault("/api/v1", "configmaps"), object: (text) => ({ data: { text } }) },
  { folder: inDefault("/api/v1", "secrets"), object: (text) => ({ stringData: { text } }) },
  { folder: inDefault("/api/v1", "serviceaccounts"), object: (text) => ({ secrets: [{ name: text }] }) },
  {
    folder: inDefault("/api/v1", "services"),
    object: (text) => ({ spec: { clusterIP: "None", selector: { text }, ports: [{ port: 80 }] } }),
  },
  {
    folder: inDefault("/apis/apps/v1", "deployments"),
    object: (text) => ({
      spec: { replicas: Number(text) % 100, selector: { matchLabels: labels }, template },
    }),
  },
  {
    folder: inDefault("/apis/rbac.authorization.k8s.io/v1", "roles"),
    object: (text) => ({ rules: [{ apiGroups: [""], resources: [text], verbs: ["get"] }] }),
  },
  { folder: "/apis/node.k8s.io/v1/runtimeclasses", object: () => ({ handler: "main" }) },
  {
    folder: inDefault("/apis/example.com/v1", "lamps"),
    object: (text) => ({ apiVersion: "example.com/v1", kind: "Lamp", spec: { text } }),
  },
];

/** Defines what is not built in. */
export async function defineKinds(wire: Wire): Promise<void> {
  const { status, body } = await wire.call(
    "POST",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    DEFINITION,
  );
  if (status !== 201) throw new Error(JSON.stringify(body));
}

/** Writes to several kinds, built-in and custom. `base` is asked for the server of every write. */
export function writesToKinds(base: () => string): (random: Random) => Promise<Answer> {
  const wires = new Map<string, Wire>();
  return (random) => {
    const { folder, object } = random.pick(KINDS);
    const name = `object-${random.between(1, NAMES)}`;
    const body = { metadata: { name }, ...object(String(random.between(1, 1e6))) };
    const server = base();
    const wire = wires.get(server) ?? new Wire(server);
    wires.set(server, wire);
    if (random.percent(40)) return wire.call("POST", folder, body);
    if (random.percent(30)) return wire.call("DELETE", `${folder}/${name}`);
    return wire.call("PUT", `${folder}/${name}`, body);
  };
}
