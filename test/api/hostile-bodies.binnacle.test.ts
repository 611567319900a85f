import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Attack, CONFIG_MAPS as PATH, Victim } from "./attacks.ts";

const TARGET = `${PATH}/target`;
const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";
const MEBIBYTE = 1024 * 1024;

const head = '"apiVersion":"v1","kind":"ConfigMap"';
const configMap = (rest: string, name = "hostile") => `{${head},"metadata":{"name":"${name}"},${rest}}`;
const nested = (depth: number, open = '{"a":', close = "}") => `${open.repeat(depth)}1${close.repeat(depth)}`;
const many = (count: number, item: (index: number) => string, separator = ",") =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator);

const quota = (amounts: string) =>
  `{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"},"spec":{"hard":{"cpu":${amounts}}}}`;

function aliasBomb(levels: number, width: number): string {
  const line = (level: number) => `  l${level}: &l${level} [${many(width, () => `*l${level - 1}`)}]`;
  const lines = Array.from({ length: levels }, (_, index) => line(index + 1)).join("\n");
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: target}\nbomb:\n  l0: &l0 [x,x]\n${lines}\n`;
}

const copyBomb = `[{"op":"add","path":"/data/c","value":"${"x".repeat(1000)}"},${many(
  30,
  (index) => `{"op":"copy","from":"/data","path":"/data/c${index}"}`,
)}]`;
const yamlHead = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: target}\n";

const attacks: readonly Attack[] = [
  { name: "alias bomb in a YAML body", type: "application/yaml", body: aliasBomb(30, 10), code: 400, says: /aliasing/ },
  {
    name: "alias bomb in an applied configuration",
    method: "PATCH",
    path: `${TARGET}?fieldManager=f`,
    type: APPLY_PATCH,
    body: aliasBomb(30, 10),
    code: 400,
    says: /aliasing/,
  },
  {
    name: "one large anchor used often",
    type: "application/yaml",
    body: `${yamlHead}a: &a [${many(10_000, () => "x")}]\nb: [${many(10_000, () => "*a")}]\n`,
    code: 400,
    says: /aliasing/,
  },
  {
    name: "merge keys that double at every level",
    type: "application/yaml",
    body: `${yamlHead}m0: &m0 {a: [1, 2, 3]}\n${many(40, (i) => `m${i + 1}: &m${i + 1} {<<: *m${i}, b${i}: *m${i}}`, "\n")}\n`,
    code: 400,
    says: /aliasing/,
  },
  { name: "100,000 objects deep", body: configMap(`"x":${nested(100_000)}`), code: 400 },
  { name: "100,000 arrays deep", body: configMap(`"x":${nested(100_000, "[", "]")}`), code: 400 },
  { name: "100,000 arrays deep, never closed", body: "[".repeat(100_000), code: 400 },
  { name: "100,000 deep flow sequences in YAML", type: "application/yaml", body: "[".repeat(100_000), code: 400 },
  {
    name: "100,000 deep block sequences in YAML",
    type: "application/yaml",
    body: `x:\n  ${"- ".repeat(100_000)}1`,
    code: 400,
  },
  {
    name: "100,000 deep merge patch",
    method: "PATCH",
    path: TARGET,
    type: MERGE_PATCH,
    body: nested(100_000),
    code: 400,
  },
  {
    name: "100,000 deep strategic patch",
    method: "PATCH",
    path: TARGET,
    type: STRATEGIC_PATCH,
    body: nested(100_000),
    code: 400,
  },
  {
    name: "100,000 deep value in a JSON patch",
    method: "PATCH",
    path: TARGET,
    type: JSON_PATCH,
    body: `[{"op":"add","path":"/data","value":${nested(100_000)}}]`,
    code: 400,
  },
  { name: "10,000 deep delete options", method: "DELETE", path: TARGET, body: nested(10_000), code: 400 },
  { name: "delete options of 500 kB", method: "DELETE", path: TARGET, body: nested(100_000), code: 413 },
  {
    name: "delete options that are no options",
    method: "DELETE",
    path: TARGET,
    body: '{"kind":"Pod","apiVersion":"v1"}',
    code: 400,
  },
  {
    name: "3 MB of JSON patch operations",
    method: "PATCH",
    path: TARGET,
    type: JSON_PATCH,
    body: `[${many(65_000, () => '{"op":"add","path":"/data/a","value":"1"}')}]`,
    code: 413,
    says: /maximum operations/,
  },
  {
    name: "3 MB of the smallest JSON patch operations",
    method: "PATCH",
    path: TARGET,
    type: JSON_PATCH,
    body: `[${many(1_000_000, () => "{}")}]`,
    code: 413,
    // A million empty objects take more than this once decoded, and they are only counted then.
    growthMb: 100,
  },
  {
    name: "as many operations as are allowed, the last of which fails",
    method: "PATCH",
    path: TARGET,
    type: JSON_PATCH,
    body: `[${many(9_999, (i) => `{"op":"add","path":"/metadata/finalizers/0","value":"a.b/${i}"}`)},{"op":"remove","path":"/none"}]`,
    code: 422,
  },
  { name: "copy bomb in a JSON patch", method: "PATCH", path: TARGET, type: JSON_PATCH, body: copyBomb, code: 422 },
  {
    name: "200,000 duplicates of one member",
    growthMb: 100,
    body: configMap(`"data":{${many(200_000, () => '"a":"b"')}}`),
    path: `${PATH}?fieldValidation=Strict&dryRun=All`,
    code: 400,
    says: /duplicate field/,
  },
  {
    name: "200,000 members that stand twice",
    growthMb: 100,
    body: configMap(`"data":{${many(100_000, (i) => `"a${i}":"b"`)},${many(100_000, (i) => `"a${i}":"b"`)}}`),
    path: `${PATH}?fieldValidation=Strict&dryRun=All`,
    code: 400,
  },
  {
    name: "200,000 duplicates in YAML",
    growthMb: 100,
    type: "application/yaml",
    body: `${yamlHead}data:\n${many(200_000, () => "  a: b", "\n")}\n`,
    path: `${PATH}?fieldValidation=Strict&dryRun=All`,
    code: 400,
    says: /already set in map/,
  },
  {
    name: "200,000 duplicates in YAML that only warn",
    growthMb: 100,
    type: "application/yaml",
    body: `${yamlHead.replace("target", "other")}data:\n${many(200_000, () => "  a: b", "\n")}\n`,
    path: `${PATH}?dryRun=All`,
    code: 201,
  },
  {
    name: "200,000 duplicates in a strict merge patch",
    growthMb: 100,
    method: "PATCH",
    path: `${TARGET}?fieldValidation=Strict`,
    type: MERGE_PATCH,
    body: `{"data":{${many(200_000, () => '"a":"b"')}}}`,
    code: 422,
  },
  {
    name: "200,000 duplicates in a strict applied configuration",
    growthMb: 100,
    method: "PATCH",
    path: `${TARGET}?fieldManager=f&fieldValidation=Strict`,
    type: APPLY_PATCH,
    body: `${yamlHead}data:\n${many(200_000, () => "  a: b", "\n")}\n`,
    code: 400,
  },
  {
    name: "200,000 unknown members",
    growthMb: 100,
    body: configMap(many(200_000, (i) => `"u${i}":1`)),
    path: `${PATH}?fieldValidation=Strict&dryRun=All`,
    code: 400,
    says: /unknown field/,
  },
  {
    name: "200,000 unknown members that only warn",
    growthMb: 100,
    body: configMap(many(200_000, (i) => `"u${i}":1`)),
    path: `${PATH}?dryRun=All`,
    code: 201,
  },
  {
    name: "label of 1 MB",
    body: `{${head},"metadata":{"name":"h","labels":{"a":"${"x".repeat(MEBIBYTE)}"}}}`,
    code: 422,
  },
  { name: "name of 1 MB", body: `{${head},"metadata":{"name":"${"x".repeat(MEBIBYTE)}"}}`, code: 422 },
  { name: "name of 1 MB of dots", body: `{${head},"metadata":{"name":"${".".repeat(MEBIBYTE)}"}}`, code: 422 },
  {
    name: "10,000 labels with bad names",
    body: `{${head},"metadata":{"name":"h","labels":{${many(10_000, (i) => `"-${i}":""`)}}}}`,
    code: 422,
  },
  {
    name: "selector with a value of 60 KB",
    method: "GET",
    path: `${PATH}?labelSelector=a%3D${"x".repeat(60_000)}`,
    code: 400,
  },
  {
    name: "selector of 12 KB of brackets",
    method: "GET",
    path: `${PATH}?labelSelector=${"(".repeat(12_000)}`,
    code: 400,
  },
  {
    name: "20,000 files of a volume in one place",
    path: "/apis/apps/v1/namespaces/default/deployments",
    body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"v"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","configMap":{"name":"m","items":[${many(20_000, (i) => `{"key":"k${i}","path":"p"}`)}]}}]}}}}`,
    code: 201,
  },
  {
    name: "40,000 ports with one number",
    path: "/apis/apps/v1/namespaces/default/deployments",
    body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"p"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","ports":[${many(40_000, () => `{"containerPort":80,"protocol":"TCP"}`)}]}]}}}}`,
    code: 201,
  },
  {
    name: "selector object of 1 MB that does not match",
    path: "/apis/apps/v1/namespaces/default/deployments",
    body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"In","values":[${many(100_000, (i) => `"v${i}"`)}]}]},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
    code: 422,
  },
  {
    name: "1 MB of managedFields",
    method: "PUT",
    path: TARGET,
    body: `{${head},"metadata":{"name":"target","managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{${many(60_000, (i) => `"f:${i}-key":{}`)}}}},{"manager":"n","operation":"What"}]}}`,
    code: 200,
  },
  {
    name: "managedFields that nest 900 deep",
    path: `${PATH}?dryRun=All`,
    body: `{${head},"metadata":{"name":"deep","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":${nested(900, '{"f:a":').replace("1}", "{}}")}}]}}`,
    code: 201,
  },
  { name: "number with 1,000,000 digits", body: configMap(`"immutable":${"9".repeat(1_000_000)}`), code: 400 },
  { name: "number with a huge exponent", body: configMap('"immutable":1e999999999'), code: 400 },
  {
    name: "YAML number with 1,000,000 digits",
    type: "application/yaml",
    body: `${yamlHead}immutable: ${"9".repeat(1_000_000)}\n`,
    code: 400,
  },
  {
    name: "YAML number of 1,000,000 digits with underscores",
    type: "application/yaml",
    body: `${yamlHead}immutable: ${"1_".repeat(500_000)}\n`,
    code: 400,
  },
  {
    name: "quantity with 1,000,000 digits",
    path: "/api/v1/namespaces/default/pods?dryRun=All",
    body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"${"9".repeat(1_000_000)}x"}}}]}}`,
    code: 400,
  },
  {
    name: "quantity with 1,000,000 digits that is right",
    path: "/api/v1/namespaces/default/resourcequotas?dryRun=All",
    body: quota(`"${"9".repeat(1_000_000)}"`),
    code: 400,
    says: /no more than 10000 characters/,
  },
  {
    name: "300 quantities of 9,999 digits",
    path: "/api/v1/namespaces/default/resourcequotas?dryRun=All",
    body: quota(`"1",${many(300, (i) => `"count/x${i}.example.com":"1${"0".repeat(9_998)}"`)}`),
    code: 201,
    growthMb: 100,
  },
  {
    name: "quantities with huge exponents",
    path: "/api/v1/namespaces/default/resourcequotas?dryRun=All",
    body: quota('"1e999999999","memory":"1e-999999999","pods":"1e300000000"'),
    code: 201,
  },
  {
    name: "containers that ask for hugely different amounts",
    path: "/api/v1/namespaces/default/pods?dryRun=All",
    body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[${many(2, (i) => `{"name":"c${i}","image":"i","resources":{"limits":{"memory":"${["1Ki", "1e300000000"][i]}"}}}`)}]}}`,
    code: 403,
    says: /service account/,
  },
  ...(
    [
      [340_000, 422],
      [700_000, 413],
    ] as const
  ).map(
    ([count, code]): Attack => ({
      name: `selector object with ${count} values that no label can have`,
      path: "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
      body: `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p"},"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"In","values":[${many(count, () => '"-"')}]}]}}}`,
      code,
      growthMb: 150,
    }),
  ),
  {
    name: "100,000 finalizers with bad names",
    body: `{${head},"metadata":{"name":"h","finalizers":[${many(100_000, (i) => `"-${i}"`)}]}}`,
    code: 422,
    growthMb: 150,
  },
  {
    name: "50,000 keys with bad names",
    body: configMap(`"data":{${many(50_000, (i) => `"/${i}":""`)}}`),
    code: 422,
    growthMb: 100,
  },
  { name: "body beyond 3 MB", body: configMap(`"data":{"a":"${"x".repeat(4 * MEBIBYTE)}"}`), code: 413 },
];

const pollution: readonly Attack[] = [
  {
    name: "JSON body",
    body: configMap(
      '"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"data":{"__proto__":"a","constructor":"b"}',
    ),
    path: `${PATH}?dryRun=All`,
    code: 201,
  },
  {
    name: "YAML body",
    type: "application/yaml",
    body: `${yamlHead.replace("target", "other")}__proto__: {polluted: yes}\nconstructor: {prototype: {polluted: yes}}\ndata: {__proto__: a}\n`,
    path: `${PATH}?dryRun=All`,
    code: 201,
  },
  ...[MERGE_PATCH, STRATEGIC_PATCH].map(
    (type): Attack => ({
      name: type,
      method: "PATCH",
      path: TARGET,
      type,
      body: '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"metadata":{"__proto__":{"polluted":"yes"},"labels":{"__proto__":null}},"data":{"constructor":"b"}}',
      code: 200,
    }),
  ),
  ...[
    "/__proto__/polluted",
    "/constructor/prototype/polluted",
    "/metadata/__proto__/polluted",
    "/data/__proto__/polluted",
  ].map(
    (pointer): Attack => ({
      name: `JSON pointer ${pointer}`,
      method: "PATCH",
      path: TARGET,
      type: JSON_PATCH,
      body: `[{"op":"add","path":"${pointer}","value":"yes"}]`,
      code: 422,
    }),
  ),
  {
    name: "applied configuration",
    method: "PATCH",
    path: `${TARGET}?fieldManager=p`,
    type: APPLY_PATCH,
    body: `${yamlHead}metadata: {name: target, annotations: {constructor: x}}\n`.replace(
      "metadata: {name: target}\n",
      "",
    ),
    code: 200,
  },
];

describe("hostile bodies", () => {
  let victim: Victim;

  before(async () => {
    victim = await Victim.start();
    await victim.send({ name: "", body: configMap('"data":{"k":"v"}', "target"), code: 201 });
  });
  after(() => victim?.stop());

  for (const attack of [
    ...attacks,
    ...pollution.map((one) => ({ ...one, name: `prototype pollution by ${one.name}` })),
  ]) {
    test(attack.name, (t) => victim.withstand(attack, t));
  }

  test("no object inherited a property", async () => {
    const { text } = await victim.send({ name: "", method: "GET", path: TARGET, code: 200 });
    assert.doesNotMatch(text, /polluted/);
    const fresh = await victim.send({ name: "", body: configMap('"data":{}', "fresh"), code: 201 });
    assert.equal(fresh.code, 201);
    assert.doesNotMatch(fresh.text, /polluted/);
  });
});
