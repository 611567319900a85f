import { eventually } from "../support/time.ts";
import { many, type OtherRequest } from "./others.ts";
import type { CostlyRequest } from "./server.ts";

const GROUP = "cost.example.com";
const any = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;

const spec = {
  type: "object",
  properties: {
    text: { type: "string" },
    pattern: { type: "string", pattern: "^(a+)+$" },
    numbers: { type: "array", items: { type: "integer", maximum: 5 } },
    set: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    byName: {
      type: "array",
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, value: { type: "integer", default: 1 } },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    judged: {
      type: "array",
      maxItems: 300_000,
      items: { type: "string", maxLength: 5 },
      "x-kubernetes-validations": [{ rule: "self.all(one, one != 'none')" }],
    },
    any,
  },
} as const;

const definition = (plural: string, kind: string) => ({
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural, kind, singular: plural.slice(0, -1), listKind: `${kind}List` },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true, subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: "object", properties: { spec, status: any } } },
        additionalPrinterColumns: [{ name: "Text", type: "string", jsonPath: ".spec.text" }],
      },
    ],
  },
});

const rule = { apiGroups: [GROUP], apiVersions: ["*"], operations: ["*"], resources: ["barrels"] };
const policy = {
  metadata: { name: "barrels" },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: "!has(object.spec.set) || object.spec.set.all(one, one != 'none')" }],
  },
};

const post = (path: string, value: unknown): CostlyRequest => ({
  method: "POST",
  path,
  body: Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
});

interface Resource {
  readonly plural: string;
  readonly kind: string;
  readonly group: string;
}

/** One kind with a definition, one with a policy as well, and one without a definition. */
const DEFINED: readonly Resource[] = [
  { plural: "crates", kind: "Crate", group: GROUP },
  { plural: "barrels", kind: "Barrel", group: GROUP },
];
const OPEN: Resource = { plural: "boxes", kind: "Box", group: "open.example.com" };

const pathOf = ({ group, plural }: Resource): string => `/apis/${group}/v1/namespaces/fuzz/${plural}`;
const objectOf = ({ group, kind }: Resource, name: string, content: string): string =>
  `{"apiVersion":"${group}/v1","kind":"${kind}","metadata":{"name":"${name}"},${content}}`;

/** The large part of an object. */
const CONTENTS: Readonly<Record<string, (bytes: number) => string>> = {
  "a text": (bytes) => `"spec":{"text":"${"a".repeat(bytes)}"}`,
  "a text of line feeds": (bytes) => `"spec":{"text":"${"\\n".repeat(bytes / 2)}"}`,
  "a text for a pattern": (bytes) => `"spec":{"pattern":"${"a".repeat(bytes)}!"}`,
  "numbers above their maximum": (bytes) => `"spec":{"numbers":[${many(bytes, () => "9")}]}`,
  "numbers of a wrong type": (bytes) => `"spec":{"numbers":[${many(bytes, () => '""')}]}`,
  "a set of distinct items": (bytes) => `"spec":{"set":[${many(bytes, (index) => `"${index}"`)}]}`,
  "a set of equal items": (bytes) => `"spec":{"set":[${many(bytes, () => '"a"')}]}`,
  "a list of distinct names": (bytes) => `"spec":{"byName":[${many(bytes, (index) => `{"name":"${index}"}`)}]}`,
  "a list of empty items": (bytes) => `"spec":{"byName":[${many(bytes, () => "{}")}]}`,
  "a list for an expression": (bytes) => `"spec":{"judged":[${many(bytes, () => '"a"')}]}`,
  "distinct keys": (bytes) => `"spec":{"any":{${many(bytes, (index) => `"k${index}":1`)}}}`,
  "doubled keys": (bytes) => `"spec":{"any":{${many(bytes, () => '"k":1')}}}`,
  "empty objects": (bytes) => `"spec":{"any":{"a":[${many(bytes, () => "{}")}]}}`,
  depth: (bytes) => `"spec":{"any":[${many(bytes, () => `${'{"a":'.repeat(90)}1${"}".repeat(90)}`)}]}`,
  "unknown fields": (bytes) => `"spec":{${many(bytes, (index) => `"f${index}":1`)}}`,
};

/** How it is sent: method, content type, query, and changes of the object's text. */
const WAYS: Readonly<Record<string, readonly [method: string, type: string, query: string]>> = {
  create: ["POST", "json", ""],
  "create, Strict": ["POST", "json", "&fieldValidation=Strict"],
  "create in YAML": ["POST", "yaml", ""],
  update: ["PUT", "json", ""],
  "merge patch": ["PATCH", "merge-patch+json", ""],
  "JSON patch": ["PATCH", "json-patch+json", ""],
  apply: ["PATCH", "apply-patch+yaml", "&fieldManager=other&force=true"],
};

function* writesOf(resource: Resource, size: number): Generator<OtherRequest> {
  const path = pathOf(resource);
  for (const [what, content] of Object.entries(CONTENTS)) {
    for (const [way, [method, type, query]] of Object.entries(WAYS)) {
      yield {
        name: `${resource.plural}: ${what}, ${size} bytes, ${way}`,
        // Built when it is sent: all of them together have a gigabyte.
        get costly() {
          const isOperations = type.startsWith("json-patch");
          const body = isOperations
            ? `[{"op":"add","path":"/spec","value":{${content(size)}}}]`
            : objectOf(resource, method === "POST" ? "c" : "base", content(size));
          return {
            method,
            path: `${path}${method === "POST" ? "" : "/base"}?dryRun=All${query}`,
            headers: { "content-type": `application/${type}` },
            body: Buffer.from(body),
          };
        },
      };
    }
  }
}

/** As much as a store accepts, including the printed object. */
const STORED_BYTES = 300_000;

const ACCEPTS = {
  JSON: "application/json",
  YAML: "application/yaml",
  Table: "application/json;as=Table;v=v1;g=meta.k8s.io",
  PartialObjectMetadata: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
} as const;

/** Small requests for a large object. */
function* uses(resource: Resource): Generator<OtherRequest> {
  const path = pathOf(resource);
  const large = `${path}/large`;
  for (const [form, accept] of Object.entries(ACCEPTS)) {
    const headers = { accept };
    yield { name: `${resource.plural}: large, read as ${form}`, costly: { method: "GET", path: large, headers } };
    yield { name: `${resource.plural}: large, listed as ${form}`, costly: { method: "GET", path, headers } };
  }
  for (const [way, [method, type, query]] of Object.entries(WAYS)) {
    if (method !== "PATCH") continue;
    const operations = '[{"op":"add","path":"/spec/text","value":"a"}]';
    const body = type.startsWith("json-patch") ? operations : objectOf(resource, "large", '"spec":{"text":"a"}');
    const headers = { "content-type": `application/${type}` };
    const costly = { method, path: `${large}?dryRun=All${query}`, headers, body: Buffer.from(body) };
    yield { name: `${resource.plural}: large, small ${way}`, costly };
  }
  yield { name: `${resource.plural}: large, delete`, costly: { method: "DELETE", path: `${large}?dryRun=All` } };
}

const stored = (resource: Resource): readonly CostlyRequest[] => [
  post(pathOf(resource), objectOf(resource, "base", '"spec":{"text":"a"}')),
  post(pathOf(resource), objectOf(resource, "large", CONTENTS["a list of distinct names"]?.(STORED_BYTES) ?? "")),
];

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";

/** Definitions, and a policy with its binding. */
const CUSTOM_DEFINITIONS: readonly CostlyRequest[] = [
  ...DEFINED.map(({ plural, kind }) => post(DEFINITIONS, definition(plural, kind))),
  post(`${ADMISSION}/validatingadmissionpolicies`, policy),
  post(`${ADMISSION}/validatingadmissionpolicybindings`, {
    metadata: { name: "barrels" },
    spec: { policyName: "barrels", validationActions: ["Deny"] },
  }),
];

/** Objects of custom kinds that the requests use. */
const CUSTOM_OBJECTS: readonly CostlyRequest[] = [...DEFINED, OPEN].flatMap(stored);

/** Everything that custom requests use, in the order of creation. */
export const CUSTOM_BASE: readonly CostlyRequest[] = [...CUSTOM_DEFINITIONS, ...CUSTOM_OBJECTS];

const SERVED_WITHIN_MS = 30_000;

/** Creates everything that custom requests use: the objects once their definitions are served. */
export async function storeCustom(send: (one: CostlyRequest) => Promise<{ readonly status: number }>): Promise<void> {
  for (const one of CUSTOM_DEFINITIONS) await send(one);
  for (const path of DEFINED.map(pathOf)) {
    const isServed = async () => (await send({ method: "GET", path })).status === 200;
    await eventually(isServed, { withinMs: SERVED_WITHIN_MS, everyMs: 100 });
  }
  for (const one of CUSTOM_OBJECTS) await send(one);
}

/**
 * Requests for custom kinds: objects with one large place, and small requests for large objects. `withOpen`: also for a
 * kind without a definition.
 */
export function* customRequests(sizes: readonly number[], withOpen: boolean): Generator<OtherRequest> {
  const resources = withOpen ? [...DEFINED, OPEN] : DEFINED;
  for (const resource of resources) {
    yield* uses(resource);
    for (const size of sizes) yield* writesOf(resource, size);
  }
}
