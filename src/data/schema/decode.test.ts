import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import type { Json } from "../../base/api/object.ts";
import { ExactInteger, WrittenNumber } from "../../base/util/exact-integer.ts";
import { builtInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import { parseJson } from "../encoding/json/json.ts";
import { decodeBySchema } from "./decode.ts";
import { typeMetaError } from "./decode-type-meta.ts";

const core = (kind: string) => builtInSchema(`io.k8s.api.core.v1.${kind}`);
const decode = (kind: string, value: Json) => decodeBySchema(value, core(kind));

suite("decoding by schema", () => {
  test("reports empty lists, maps and bytes, and keeps them with keepsEmpties", () => {
    const value = { data: {}, binaryData: { a: "" }, metadata: { finalizers: [], labels: null, name: "" } };
    const empties = [
      { path: ["data"], value: {} },
      { path: ["metadata", "finalizers"], value: [] },
    ];
    const dropped = decode("ConfigMap", value);
    assert.deepEqual(dropped.empties, empties);
    assert.deepEqual(dropped.value, { metadata: {}, binaryData: { a: "" } });
    const kept = decodeBySchema(value, core("ConfigMap"), { keepsEmpties: true });
    assert.deepEqual(kept.empties, empties);
    assert.deepEqual(kept.value, { metadata: { finalizers: [] }, data: {}, binaryData: { a: "" } });
    const written = decodeBySchema({ containers: [] }, core("PodSpec"), { keepsEmpties: true });
    assert.deepEqual(written.value, { containers: [] });
  });

  test("limits the size of always written fields to that of a body", () => {
    const conditions = (count: number, item: Json) => ({ status: { conditions: new Array<Json>(count).fill(item) } });
    assert.equal(decode("Pod", conditions(30_000, {})).error, undefined);
    for (const item of [{}, null]) {
      assert.throws(() => decode("Pod", conditions(100_000, item)), {
        message: "Request entity too large: limit is 3145728 with the fields that are always written",
      });
    }
  });

  const canonical: readonly (readonly [title: string, kind: string, before: Json, after: Json])[] = [
    [
      "drops values that count as omitted",
      "Container",
      { name: "a", image: "", tty: false, args: [], env: null },
      { name: "a", resources: {} },
    ],
    ["keeps zero if it differs from omitted", "ConfigMap", { immutable: false }, { metadata: {}, immutable: false }],
    ["adds fields that are always written", "ServicePort", {}, { port: 0, targetPort: 0 }],
    ["keeps empty text in maps", "ConfigMap", { data: { b: "", a: null } }, { metadata: {}, data: { a: "", b: "" } }],
    ["drops empty maps", "ConfigMap", { data: {} }, { metadata: {} }],
    [
      "keeps empty objects",
      "PodSpec",
      { containers: [{ name: "a" }], securityContext: {} },
      { containers: [{ name: "a", resources: {} }], securityContext: {} },
    ],
    ["writes null for a list that is always written", "PodSpec", { containers: [] }, { containers: null }],
    [
      "decodes null in a list as zero",
      "Container",
      { name: "a", args: [null, "x"] },
      { name: "a", args: ["", "x"], resources: {} },
    ],
    [
      "writes null for some pointers",
      "TypedLocalObjectReference",
      { kind: "K", name: "n" },
      { apiGroup: null, kind: "K", name: "n" },
    ],
    [
      "canonicalises quantities",
      "ResourceRequirements",
      { limits: { memory: "1024Mi", cpu: 0.5 } },
      { limits: { cpu: "500m", memory: "1Gi" } },
    ],
    [
      "canonicalises times",
      "ContainerStateRunning",
      { startedAt: "2024-01-01T02:00:00.5+02:00" },
      { startedAt: "2024-01-01T00:00:00Z" },
    ],
    ["writes null for a missing time", "ContainerStateRunning", { startedAt: null }, { startedAt: null }],
    ["canonicalises bytes", "Secret", { data: { a: "QUI=\n", b: null } }, { metadata: {}, data: { a: "QUI=", b: "" } }],
    [
      "keeps integers and strings of IntOrString",
      "ServicePort",
      { port: 1, targetPort: "web" },
      { port: 1, targetPort: "web" },
    ],
    ["decodes null as an empty body", "ConfigMap", null, { metadata: {} }],
  ];
  for (const [title, kind, before, after] of canonical) {
    test(title, () => {
      const { empties: _, ...decoded } = decode(kind, before);
      assert.deepEqual(decoded, { value: after, strict: [], error: undefined });
    });
  }

  test("orders members like the schema, and map entries by name", () => {
    const { value } = decode("ConfigMap", { data: { b: "2", a: "1" }, metadata: { labels: {}, name: "n" }, kind: "K" });
    assert.equal(JSON.stringify(value), '{"kind":"K","metadata":{"name":"n"},"data":{"a":"1","b":"2"}}');
  });

  test("keeps 64-bit integers", () => {
    const big = new ExactInteger("9007199254740993");
    const { value } = decode("PodSpec", { containers: [], activeDeadlineSeconds: big });
    assert.equal(JSON.stringify(value), '{"containers":null,"activeDeadlineSeconds":9007199254740993}');
    const field = "Go struct field Container.terminationMessagePath of type string";
    assert.equal(
      decode("Container", { terminationMessagePath: big }).error,
      `json: cannot unmarshal number into ${field}`,
    );
  });

  test("rejects integers that are written with a fraction or an exponent", () => {
    const written = (text: string) => new WrittenNumber(text);
    const refusal = (text: string) => decode("PodSpec", { activeDeadlineSeconds: written(text) }).error;
    for (const text of ["1.0", "1e2", "9223372036854775808"]) {
      const field = "Go struct field PodSpec.activeDeadlineSeconds of type int64";
      assert.equal(refusal(text), `json: cannot unmarshal number ${text} into ${field}`);
    }
    const quantities = decode("ResourceRequirements", { limits: { cpu: written("1e18") } });
    assert.deepEqual(quantities.value, { limits: { cpu: "1e18" } });
    const revision = builtInSchema("io.k8s.api.apps.v1.ControllerRevision");
    const free = { data: { list: [written("1.0")] }, revision: 1 };
    const { data } = decodeBySchema(free, revision, { hasWrittenNumbers: true }).value;
    assert.equal(JSON.stringify(data), '{"list":[1]}');
  });

  const body: Json = {
    metadata: { name: "n", strange: "x" },
    spec: { wrong: 1, Ports: [], ports: [{ port: 80, odd: true }] },
    extra: {},
  };
  const texts = (fields: string) => fields.split(" ").map((field) => `unknown field "${field}"`);

  test("reports unknown fields in the order of the body", () => {
    const { strict, value } = decode("Service", body);
    assert.deepEqual(strict, texts("metadata.strange spec.wrong spec.Ports spec.ports[0].odd extra"));
    assert.equal("extra" in value, false);
  });

  test("reports unknown fields sorted by name if kube-apiserver would have sorted the members", () => {
    const { strict } = decodeBySchema(body, core("Service"), { form: "sorted" });
    assert.deepEqual(strict, texts("extra metadata.strange spec.Ports spec.ports[0].odd spec.wrong"));
    const spec = { containers: Array.from({ length: 11 }, (_, i) => (i === 2 || i === 10 ? { x: 1 } : {})) };
    const merged = decodeBySchema({ spec }, core("Pod"), { form: "merged" });
    assert.deepEqual(merged.strict, texts("spec.containers[10].x spec.containers[2].x"));
  });

  test("reports at most a hundred unknown fields", () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x${i}`, 1]));
    assert.equal(decode("ConfigMap", many).strict.length, 100);
  });

  test("reports duplicate fields, unless they are unknown", () => {
    const duplicates = ["metadata.labels.a", "spec.wrong", "spec.ports[0].port"].map(
      (path) => `duplicate field "${path}"`,
    );
    const value = { metadata: { labels: { a: "2" } }, spec: { wrong: 2, ports: [{ port: 81 }] } };
    assert.deepEqual(decodeBySchema(value, core("Service"), { duplicates }).strict, [
      'duplicate field "metadata.labels.a"',
      'unknown field "spec.wrong"',
      'duplicate field "spec.ports[0].port"',
    ]);
  });

  const json = "json: cannot unmarshal";
  const refused: readonly (readonly [kind: string, value: Json, error: string])[] = [
    [
      "ConfigMap",
      { metadata: { name: 7 } },
      `${json} number into Go struct field ObjectMeta.metadata.name of type string`,
    ],
    ["ConfigMap", { data: "text" }, `${json} string into Go struct field ConfigMap.data of type map[string]string`],
    ["ConfigMap", { data: { a: 1 } }, `${json} number into Go struct field ConfigMap.data of type string`],
    ["ConfigMap", { metadata: [] }, `${json} array into Go struct field ConfigMap.metadata of type v1.ObjectMeta`],
    ["ConfigMap", { immutable: "yes" }, `${json} string into Go struct field ConfigMap.immutable of type bool`],
    ["ConfigMap", [], `${json} array into Go value of type v1.ConfigMap`],
    [
      "ConfigMap",
      { metadata: { creationTimestamp: 3 } },
      `${json} number into Go struct field ObjectMeta.metadata.creationTimestamp of type string`,
    ],
    [
      "ConfigMap",
      { metadata: { creationTimestamp: "yesterday" } },
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
    ["ConfigMap", { binaryData: { a: "%%%" } }, "illegal base64 data at input byte 0"],
    ["ConfigMap", { binaryData: { a: 1 } }, `${json} number into Go struct field ConfigMap.binaryData of type []uint8`],
    [
      "Service",
      { spec: { ports: [{ port: 1.5 }] } },
      `${json} number 1.5 into Go struct field ServicePort.spec.ports.port of type int32`,
    ],
    [
      "Service",
      { spec: { ports: [{ port: 2 ** 31 }] } },
      `${json} number 2147483648 into Go struct field ServicePort.spec.ports.port of type int32`,
    ],
    [
      "Service",
      { spec: { ports: [{ protocol: 1 }] } },
      `${json} number into Go struct field ServicePort.spec.ports.protocol of type v1.Protocol`,
    ],
    [
      "Service",
      { spec: { ports: [{ port: "x", targetPort: true }] } },
      `${json} bool into Go struct field ServicePort.spec.ports.targetPort of type int32`,
    ],
    [
      "Service",
      { spec: { ports: [{ port: "x" }, "y"] } },
      `${json} string into Go struct field ServicePort.spec.ports.port of type int32`,
    ],
    [
      "Pod",
      { spec: { volumes: [{ hostPath: 3 }] } },
      `${json} number into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource`,
    ],
    [
      "ResourceRequirements",
      { limits: [] },
      `${json} array into Go struct field ResourceRequirements.limits of type v1.ResourceList`,
    ],
    [
      "ResourceRequirements",
      { limits: { cpu: "x" } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ];
  for (const [kind, value, error] of refused) {
    test(`rejects: ${error}`, () => assert.equal(decode(kind, value).error, error));
  }

  const merged: readonly (readonly [kind: string, value: Json, error: string])[] = [
    ["Pod", { metadata: [] }, "cannot restore struct from: slice"],
    ["PodSpec", { containers: { name: "a" } }, "cannot restore slice from map"],
    ["ConfigMap", { data: "x" }, "cannot restore map from string"],
    ["ConfigMap", { data: { a: 1 } }, "cannot convert int64 to string"],
    ["ConfigMap", { data: { a: true } }, "unrecognized type: string"],
    ["ConfigMap", { immutable: 1 }, "unrecognized type: bool"],
    ["ServicePort", { port: 1.5 }, "cannot convert float64 to int32"],
    ["ConfigMap", { binaryData: { a: "%" } }, "error decoding from json: illegal base64 data at input byte 0"],
    ["ObjectMeta", { creationTimestamp: 3 }, `${json} number into Go value of type string`],
  ];
  for (const [kind, value, error] of merged) {
    test(`rejects after a strategic merge: ${error}`, () => {
      const schema = kind === "ObjectMeta" ? builtInSchema(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`) : core(kind);
      assert.equal(decodeBySchema(value, schema, { form: "merged" }).error, error);
    });
  }

  // The results of kube-apiserver 1.37.1 for these numbers in an apply.
  const converted: readonly (readonly [field: string, number: string, text: string | undefined])[] = [
    ["hostPort", "4294967297", "1"],
    ["hostPort", "9223372036854775808", undefined],
    ["hostPort", "123456789012345678901234", undefined],
    ["runAsUser", "9007199254740993", "9007199254740993"],
    ["runAsUser", "12345678901234567890", "-9223372036854775808"],
    ["runAsUser", "-1e30", "-9223372036854775808"],
  ];
  for (const [field, number, text] of converted) {
    test(`after a strategic merge ${number} is truncated to the size of ${field}`, () => {
      const schema = core(field === "hostPort" ? "ContainerPort" : "SecurityContext");
      const given = parseJson(Buffer.from(`{"containerPort":1,"${field}":${number}}`));
      const { value, error } = decodeBySchema(given, schema, { form: "merged" });
      assert.deepEqual([error, JSON.stringify(value[field])], [undefined, text]);
    });
  }

  test("decodes types with alternatives", () => {
    const schema = builtInSchema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    const check = (value: Json) => decodeBySchema(value, schema);
    const kept = { type: "array", items: { type: "string" }, additionalProperties: false };
    assert.deepEqual(check({ ...kept, items: { type: "string", odd: 1 } }), {
      value: kept,
      strict: [],
      empties: [],
      error: undefined,
    });
    assert.equal(check({ additionalProperties: "x" }).error, "boolean or JSON schema expected");
    assert.equal(
      check({ items: { type: 1 } }).error,
      "json: cannot unmarshal number into Go struct field JSONSchemaProps.items.type of type string",
    );
  });

  test("decodes kind and apiVersion first", () => {
    const prefix = "couldn't get version/kind; json parse error: json: cannot unmarshal";
    assert.equal(typeMetaError({ kind: "K", apiVersion: null }), undefined);
    assert.equal(typeMetaError({ kind: 1 }), `${prefix} number into Go struct field .kind of type string`);
    assert.equal(
      typeMetaError([]),
      `${prefix} array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  });

  test("treats __proto__ as any other name", () => {
    const { value, strict } = decode("ConfigMap", JSON.parse('{"__proto__":{"a":1},"data":{"__proto__":"x"}}'));
    assert.equal(JSON.stringify(value), '{"metadata":{},"data":{"__proto__":"x"}}');
    assert.deepEqual(strict, ['unknown field "__proto__"']);
  });

  test("is idempotent and does not modify its input", () => {
    const member = fc.constantFrom(
      "metadata",
      "spec",
      "containers",
      "name",
      "labels",
      "env",
      "resources",
      "limits",
      "cpu",
      "volumes",
      "x",
    );
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<Json>(null, "", "a", "1", 0, 1, false, true),
        fc.array(tie("tree"), { maxLength: 2 }),
        fc.dictionary(member, tie("tree"), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<Json>,
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom("body", "sorted", "merged"), (value, form) => {
        const shown = JSON.stringify(value);
        const once = decodeBySchema(value, core("Pod"), { form });
        assert.equal(JSON.stringify(value), shown);
        if (once.error === undefined)
          assert.deepEqual(decodeBySchema(once.value, core("Pod"), { form }).value, once.value);
      }),
      { numRuns: 500 },
    );
  });
});
