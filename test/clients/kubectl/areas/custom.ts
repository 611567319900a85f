import type { JsonObject } from "../../../../src/base/api/object.ts";
import type { Area } from "../cases.ts";
import { definition } from "../manifests.ts";

const custom = (group: string, kind: string, name: string, fields: JsonObject = {}): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name, labels: { prune: "yes" } },
  ...fields,
});
const established = (name: string) => `wait --timeout=20s --for=condition=Established crd/${name}`;

const COMPANY = "crd.example.com";
const foo = (fields: JsonObject = {}) =>
  custom(COMPANY, "Foo", "test", { someField: "field1", otherField: "field2", ...fields });

const validated = {
  type: "object",
  description: "A kind with rules.",
  properties: {
    spec: {
      type: "object",
      description: "What is wanted.",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, description: "How large it is." },
        colour: { type: "string", enum: ["red", "green"], default: "red" },
        date: { type: "string", format: "date" },
      },
    },
    status: { type: "object", properties: { ready: { type: "boolean" } } },
  },
};

/** CustomResourceDefinitions and their objects. */
export const crd: Area = {
  name: "crd",
  cases: [
    {
      title: "custom objects in every form",
      files: {
        "definitions.json": [definition(COMPANY, ["Foo", "foos"]), definition(COMPANY, ["Bar", "bars"])],
        "foo.json": foo(),
        "bar.json": custom(COMPANY, "Bar", "test", { someField: "field1" }),
      },
      steps: [
        "create -f definitions.json",
        established(`foos.${COMPANY}`),
        established(`bars.${COMPANY}`),
        `get crd foos.${COMPANY}`,
        `api-resources --api-group=${COMPANY}`,
        { run: `get --raw /apis/${COMPANY}/v1`, compare: "lines" },
        `get --raw /apis/${COMPANY}/v1/foos`,
        "get foos",
        "create -f foo.json",
        `get foo.${COMPANY}/test -o name`,
        `get foos.v1.${COMPANY}/test -o name`,
        ...[
          "name",
          "wide",
          "json",
          "yaml",
          "jsonpath={.items[*].someField}",
          "go-template={{range.items}}{{.someField}}{{end}}",
        ].map((format) => `get foos -o ${format} --allow-missing-template-keys=false`),
        ...["name", "wide", "json", "yaml", "jsonpath={.someField}", "go-template={{.someField}}"].map(
          (format) => `get foos/test -o ${format} --allow-missing-template-keys=false`,
        ),
        "get foos",
        "get foos/test",
        'patch foos/test -p \'{"patched":"value1"}\' --type=merge',
        'patch foos/test -p \'{"patched":"value2"}\' --type=merge --record',
        "patch foos/test -p '{\"patched\":null}' --type=merge --record",
        'patch foos/test -p \'{"patched":"value"}\'',
        "get foos/test -o jsonpath={.patched}{.metadata.annotations}",
        { run: "get foos/test -o json", into: "stored.json" },
        'patch --local -f stored.json -p \'{"patched":"value3"}\'',
        'patch --local -f stored.json -p \'{"patched":"value3"}\' --type=merge -o jsonpath={.patched}',
        'patch -f stored.json -p \'{"patched":"value3"}\' --type=merge -o jsonpath={.patched}',
        "label foos --all listed=true",
        "label foo/test item=true",
        "annotate foos --all listed=true",
        "annotate foo/test item=true",
        "label --all --all-namespaces foo everywhere=true",
        "describe foos",
        "describe foos/test",
        "delete foos test --cascade=background",
        "create -f bar.json",
        {
          run: "get bars --watch -o name",
          ready: "test",
          until: "test",
          meanwhile: ['patch bars/test -p \'{"patched":"1"}\' --type=merge'],
        },
        "delete bars test --cascade=orphan --wait=false",
        'patch bars/test --type=merge -p \'{"metadata":{"finalizers":null}}\'',
        "apply -f foo.json",
        "apply -f foo.json",
        { run: "apply -f -", input: foo({ nested: { a: "1", b: "2" } }) },
        { run: "apply -f -", input: foo({ nested: { a: "modified" } }) },
        "get foos/test -o jsonpath={.nested}",
        { run: "apply --server-side --force-conflicts -f -", input: foo({ nested: { a: "again", c: "3" } }) },
        "get foos/test -o jsonpath={.nested}",
        "delete -f foo.json",
        {
          run: "apply -f -",
          input: { apiVersion: "v1", kind: "List", items: [foo(), custom(COMPANY, "Bar", "test", { a: 1 })] },
        },
        {
          run: "apply -f -",
          input: {
            apiVersion: "v1",
            kind: "List",
            items: [foo({ added: true }), custom(COMPANY, "Bar", "test", { b: 1 })],
          },
        },
        "get foos,bars -o jsonpath={.items[*].added}{.items[*].b}{.items[*].a}",
        `apply --prune -l prune=yes -f foo.json --prune-allowlist=${COMPANY}/v1/Foo --prune-allowlist=${COMPANY}/v1/Bar`,
        "get foos,bars -o name",
        "delete foos --all",
        `delete crd foos.${COMPANY} bars.${COMPANY}`,
      ],
    },
    {
      title: "rules, columns, status and scale",
      files: {
        "definition.json": definition("rules.example.com", ["Ruled", "ruleds"], {
          schema: validated,
          shortNames: ["rld"],
          version: {
            subresources: { status: {} },
            additionalPrinterColumns: [
              { name: "Size", type: "integer", jsonPath: ".spec.size" },
              { name: "Colour", type: "string", jsonPath: ".spec.colour", priority: 1 },
              { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
            ],
          },
        }),
        "good.json": custom("rules.example.com", "Ruled", "good", { spec: { size: 2 } }),
        "bad.json": custom("rules.example.com", "Ruled", "bad", { spec: { size: 0, colour: "blue" } }),
        "odd.json": custom("rules.example.com", "Ruled", "odd", { spec: { size: 1, nonsense: true } }),
        "empty.json": custom("rules.example.com", "Ruled", "empty", { spec: {} }),
      },
      steps: [
        "create -f definition.json",
        established("ruleds.rules.example.com"),
        "apply -f good.json",
        "get rld",
        "get rld -o wide",
        { run: "create -f bad.json", compare: "lines" },
        { run: "create -f bad.json --validate=false", compare: "lines" },
        "create -f odd.json",
        "create -f odd.json --validate=warn",
        "create -f empty.json",
        "get ruled odd -o jsonpath={.spec}",
        'patch ruled good --subresource=status --type=merge -p \'{"status":{"ready":true}}\'',
        'patch ruled good --subresource=status --type=merge -p \'{"status":{"ready":"maybe"}}\'',
        'patch ruled good --type=merge -p \'{"spec":{"size":5},"status":{"ready":false}}\'',
        "get ruled good --subresource=status -o jsonpath={.spec}{.status}",
        "get ruled good --subresource=scale",
        { run: "explain ruled", compare: "structure" },
        "explain ruled.spec",
        "explain ruled.spec.colour",
        "explain ruled --recursive",
        "explain ruled.nothing",
        "describe crd ruleds.rules.example.com",
        "delete ruleds --all",
        "delete crd ruleds.rules.example.com",
        "get rld",
      ],
    },
  ],
};

const example = (group: string, kind: string, plural: string, more: object = {}) =>
  definition(group, [kind, plural], more);

/** What a server says that it serves. */
export const discovery: Area = {
  name: "discovery",
  cases: [
    {
      title: "types that are not there",
      steps: [
        "get unknownresourcetype",
        "get unknown.example.com/x",
        "api-resources --api-group=unknown.example.com",
        "explain unknownresourcetype",
      ],
    },
    {
      title: "resources by group, scope and verb",
      steps: [
        "api-resources --api-group=apps",
        "api-resources --api-group=batch -o wide",
        "api-resources --api-group=rbac.authorization.k8s.io -o name",
        "api-resources --api-group= --namespaced=true --sort-by=name",
        "api-resources --api-group= --namespaced=false --no-headers",
        "api-resources --api-group=apps --verbs=list,watch -o name",
        "api-resources --categories=all -o name",
        "api-resources -o nonsense",
        "get --raw /api/v1",
        "get --raw /apis/apps",
        "get --raw /apis/apps/v1",
        "get --raw /apis/nowhere.example.com",
        "get --raw /nowhere",
        "get --raw /healthz",
        "get --raw /readyz/ping",
        { run: "get --raw /openapi/v2", compare: "code" },
        { run: "get --raw /openapi/v3", compare: "code" },
        { run: "cluster-info", compare: "code" },
        { run: "cluster-info dump --output-directory=dump", compare: "code" },
      ],
    },
    {
      title: "a short name that is a resource of the core does not hide it",
      files: {
        "definition.json": example("short.example.com", "ShortExample", "shortexamples", { shortNames: ["pod"] }),
        "one.json": custom("short.example.com", "ShortExample", "mine"),
      },
      steps: [
        "create -f definition.json",
        established("shortexamples.short.example.com"),
        "create -f one.json",
        "get shortexamples",
        "get pod",
        "get pod mine",
        "api-resources --api-group=short.example.com",
        "get shortexample/mine -o name",
        "delete shortexamples mine",
        "delete crd shortexamples.short.example.com",
      ],
    },
    {
      title: "a singular name of the core does not hide it either",
      files: {
        "definition.json": {
          ...example("singular.example.com", "SingularExample", "singularexamples"),
          spec: {
            ...(example("singular.example.com", "SingularExample", "singularexamples").spec as JsonObject),
            names: { kind: "SingularExample", plural: "singularexamples", singular: "pod" },
          },
        },
        "one.json": custom("singular.example.com", "SingularExample", "mine"),
      },
      steps: [
        "create -f definition.json",
        established("singularexamples.singular.example.com"),
        "create -f one.json",
        "get singularexamples",
        "get pod",
        "delete singularexamples/mine",
        "delete crd singularexamples.singular.example.com",
      ],
    },
    {
      title: "a short name of two kinds",
      files: {
        "first.json": example("first.example.com", "Ambiguous", "ambiguouses", { shortNames: ["ambi"] }),
        "second.json": example("second.example.com", "Ambivalent", "ambivalents", { shortNames: ["ambi"] }),
        "one.json": custom("first.example.com", "Ambiguous", "mine"),
      },
      steps: [
        "create -f first.json",
        established("ambiguouses.first.example.com"),
        "create -f one.json",
        "get ambi",
        "create -f second.json",
        established("ambivalents.second.example.com"),
        "get ambivalents",
        "get ambi",
        "delete ambiguouses/mine",
        "delete crd ambiguouses.first.example.com ambivalents.second.example.com",
      ],
    },
    {
      title: "a kind is deleted and made again with another scope",
      files: {
        "cluster.json": example("again.example.com", "Again", "agains", { scope: "Cluster" }),
        "namespaced.json": example("again.example.com", "Again", "agains"),
        "one.json": custom("again.example.com", "Again", "mine"),
      },
      steps: [
        "apply -f cluster.json",
        established("agains.again.example.com"),
        "apply -f one.json",
        "delete -f cluster.json",
        "api-resources --api-group=again.example.com",
        "apply -f namespaced.json",
        established("agains.again.example.com"),
        "apply -f one.json",
        "get agains",
        "delete -f one.json",
        "delete -f namespaced.json",
      ],
    },
    {
      title: "explain",
      files: {
        "definition.json": definition("mock.example.com", ["Mock", "mocks"], {
          schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  annotations: {
                    type: "object",
                    additionalProperties: { type: "array", items: { type: "string" } },
                  },
                  parts: { type: "array", items: { type: "object", properties: { subresource: { type: "string" } } } },
                },
              },
            },
          },
        }),
      },
      steps: [
        ...[
          "pods",
          "po",
          "po.status.message",
          "cronjob",
          "pods.spec.containers",
          "pods.spec.restartPolicy",
          "deployment.spec.strategy --recursive",
          "hpa --api-version=autoscaling/v1",
          "service.spec.ports.protocol",
          "ingress.spec.rules --recursive",
        ].map((what) => ({ run: `explain ${what}`, compare: "structure" as const })),
        "explain pods.nonsense",
        "explain pods --api-version=apps/v1",
        "explain",
        "create -f definition.json",
        established("mocks.mock.example.com"),
        "explain mocks --recursive --max-depth=1",
        "explain mocks --recursive --max-depth=2",
        "explain mocks --recursive",
        "explain mocks --recursive --max-depth=1 -o plaintext-openapiv2",
        "explain mocks --recursive --max-depth=2 -o plaintext-openapiv2",
        "explain mocks --recursive -o plaintext-openapiv2",
        "explain mocks.spec.parts",
        "delete crd mocks.mock.example.com",
      ],
    },
  ],
};
