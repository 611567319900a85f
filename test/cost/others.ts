import type { CostlyRequest } from "./server.ts";
import { RUNS } from "./values.ts";

/** A request that enlarges something other than a field of an object. */
export interface OtherRequest {
  readonly name: string;
  readonly costly: CostlyRequest;
}

const PODS = "/api/v1/namespaces/fuzz/pods";
const MAPS = "/api/v1/namespaces/fuzz/configmaps";
const BASE = `${MAPS}/base`;

/** Request line and headers may have 64 KB together. */
const HEAD_BYTES = 60_000;
/** Sizes of bodies. */
export const BODY_BYTES = [100_000, 2_500_000] as const;

const repeat = (run: string, bytes: number): string => run.repeat(Math.max(1, Math.floor(bytes / run.length)));
/** As many distinct items with separators as fit into `bytes`. */
export const many = (bytes: number, item: (index: number) => string, separator = ","): string => {
  const items: string[] = [];
  for (let left = bytes; left > 0; left -= (items.at(-1)?.length ?? 0) + separator.length)
    items.push(item(items.length));
  return items.join(separator);
};

/** Query parameters of a list, or of a write. */
const LIST_PARAMETERS = [
  "labelSelector",
  "fieldSelector",
  "continue",
  "resourceVersion",
  "resourceVersionMatch",
  "limit",
];
const MORE_LIST_PARAMETERS = ["timeoutSeconds", "sendInitialEvents", "allowWatchBookmarks", "shardSelector", "pretty"];
const WRITE_PARAMETERS = ["fieldManager", "fieldValidation", "dryRun", "pretty"];
const DELETE_PARAMETERS = ["propagationPolicy", "gracePeriodSeconds", "orphanDependents"];

/** Headers that some part of the server reads. */
const HEADERS = [
  "accept",
  "accept-encoding",
  "authorization",
  "content-type",
  "content-encoding",
  "cookie",
  "user-agent",
  "audit-id",
  "impersonate-user",
  "impersonate-extra-a",
  "x-forwarded-for",
  "x-remote-user",
  "if-none-match",
  "origin",
  "range",
  "traceparent",
  "sec-websocket-protocol",
  "x-stream-protocol-version",
];

/** Long selectors of different kinds. */
const SELECTORS: Readonly<Record<string, string>> = {
  "equal requirements": many(HEAD_BYTES, () => "a=b"),
  "distinct requirements": many(HEAD_BYTES, (index) => `k${index}=v`),
  "distinct keys that must be there": many(HEAD_BYTES, (index) => `k${index}`),
  "one set of distinct values": `a in (${many(HEAD_BYTES, (index) => `v${index}`)})`,
  "one set of equal values": `a notin (${many(HEAD_BYTES, () => "v")})`,
  "many small sets": many(HEAD_BYTES, (index) => `k${index} in (a,b)`),
  "open brackets": `a in ${repeat("(", HEAD_BYTES)}`,
  commas: repeat(",", HEAD_BYTES),
  "not and not": repeat("!", HEAD_BYTES),
  "equal signs": `a${repeat("=", HEAD_BYTES)}b`,
};

const ACCEPTS: Readonly<Record<string, string>> = {
  "many types": many(HEAD_BYTES, (index) => `application/x${index}`),
  "many qualities": many(HEAD_BYTES, (index) => `application/json;q=0.${index}`),
  "many parameters": `application/json${repeat(";a=b", HEAD_BYTES)}`,
  "many tables": many(HEAD_BYTES, () => "application/json;as=Table;v=v1;g=meta.k8s.io"),
  "an open quote": `application/json;a="${repeat("\\", HEAD_BYTES)}`,
};

const get = (path: string, headers?: Record<string, string>): CostlyRequest => ({ method: "GET", path, headers });

function patch(type: string, body: string, query = ""): CostlyRequest {
  const headers = { "content-type": `application/${type}` };
  return { method: "PATCH", path: `${BASE}?dryRun=All${query}`, headers, body: Buffer.from(body) };
}

const query = (name: string, value: string) => new URLSearchParams({ [name]: value }).toString().slice(0, HEAD_BYTES);

function* heads(): Generator<OtherRequest> {
  for (const [start, run, end] of RUNS) {
    const text = start + repeat(run, HEAD_BYTES / 3) + end;
    const what = `${JSON.stringify(start)} ${JSON.stringify(run)}… ${JSON.stringify(end)}`;
    for (const name of [...LIST_PARAMETERS, ...MORE_LIST_PARAMETERS])
      yield { name: `list with ${name} ${what}`, costly: get(`${PODS}?${query(name, text)}`) };
    for (const name of WRITE_PARAMETERS) {
      const path = `${MAPS}?dryRun=All&${query(name, text)}`;
      yield {
        name: `create with ${name} ${what}`,
        costly: { method: "POST", path, body: Buffer.from('{"metadata":{"name":"c"}}') },
      };
    }
    for (const name of DELETE_PARAMETERS) {
      const path = `${BASE}?dryRun=All&${query(name, text)}`;
      yield { name: `delete with ${name} ${what}`, costly: { method: "DELETE", path } };
    }
    yield { name: `a name of ${what}`, costly: get(`${MAPS}/${encodeURIComponent(text).slice(0, HEAD_BYTES)}`) };
    yield { name: `a path of ${what}`, costly: get(`/${encodeURI(text).slice(0, HEAD_BYTES)}`) };
    if (!/^[\t\x20-\x7e]*$/.test(text)) continue;
    for (const header of HEADERS) {
      const value = header === "authorization" ? `Bearer ${text}` : text;
      yield { name: `header ${header} ${what}`, costly: get(`${MAPS}?limit=1`, { [header]: value }) };
    }
  }
  for (const [name, selector] of Object.entries(SELECTORS)) {
    for (const parameter of ["labelSelector", "fieldSelector"])
      yield { name: `${parameter}: ${name}`, costly: get(`${PODS}?${query(parameter, selector)}`) };
    yield {
      name: `deletecollection, labelSelector: ${name}`,
      costly: { method: "DELETE", path: `${MAPS}?dryRun=All&${query("labelSelector", selector)}` },
    };
  }
  for (const [name, accept] of Object.entries(ACCEPTS))
    yield { name: `accept: ${name}`, costly: get(`${MAPS}?limit=1`, { accept }) };
  yield { name: "many parameters", costly: get(`${MAPS}?${many(HEAD_BYTES, (index) => `p${index}=1`, "&")}`) };
  yield { name: "one parameter many times", costly: get(`${MAPS}?${many(HEAD_BYTES, () => "limit=1", "&")}`) };
  yield { name: "many slashes", costly: get(repeat("/", HEAD_BYTES)) };
  yield {
    name: "many headers",
    costly: get(MAPS, Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`x-h${index}`, "1"]))),
  };
}

function* patches(size: number): Generator<OtherRequest> {
  const json = (name: string, body: string) => ({
    name: `JSON patch of ${size} bytes: ${name}`,
    costly: patch("json-patch+json", body),
  });
  const add = '{"op":"add","path":"/data","value":{"a":"b"}}';
  yield json("many adds", `[${many(size, () => add)}]`);
  yield json("many tests", `[${many(size, () => '{"op":"test","path":"/kind","value":"ConfigMap"}')}]`);
  yield json(
    "many items at the start of a list",
    `[{"op":"add","path":"/metadata/finalizers","value":[]},${many(size, (index) => `{"op":"add","path":"/metadata/finalizers/0","value":"a.b/f${index}"}`)}]`,
  );
  yield json(
    "many copies of what grows",
    `[{"op":"add","path":"/data","value":{}},${many(size, (index) => `{"op":"copy","from":"/data","path":"/data/k${index}"}`)}]`,
  );
  yield json(
    "many moves",
    `[${add},${many(size, (index) => `{"op":"move","from":"/data/${index % 2 ? "b" : "a"}","path":"/data/${index % 2 ? "a" : "b"}"}`)}]`,
  );
  yield json("one long path", `[{"op":"add","path":"${repeat("/a", size)}","value":1}]`);
  yield json("escapes in a path", `[{"op":"add","path":"/data/${repeat("~1~0", size)}","value":"1"}]`);
  for (const type of ["merge-patch+json", "strategic-merge-patch+json"]) {
    const merge = (name: string, body: string) => ({
      name: `${type} of ${size} bytes: ${name}`,
      costly: patch(type, body),
    });
    yield merge("deep", `{"data":${repeat('{"a":', size / 2)}1${repeat("}", size / 10)}`);
    yield merge("deep and whole", `${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}`);
    yield merge("many nulls", `{"data":{${many(size, (index) => `"k${index}":null`)}}}`);
    yield merge("doubled keys", `{"data":{${many(size, () => '"k":"1"')}}}`);
    yield merge(
      "finalizers to delete",
      `{"metadata":{"$deleteFromPrimitiveList/finalizers":[${many(size, (index) => `"a.b/${index}"`)}]}}`,
    );
    yield merge(
      "order of finalizers",
      `{"metadata":{"$setElementOrder/finalizers":[${many(size, (index) => `"a.b/${index}"`)}],"finalizers":[${many(size / 4, (index) => `"a.b/${index}"`)}]}}`,
    );
    yield merge(
      "owners to delete",
      `{"metadata":{"ownerReferences":[${many(size, (index) => `{"$patch":"delete","uid":"${index}"}`)}]}}`,
    );
    yield merge("directives", `{"data":{${many(size, () => '"$patch":"replace"')}}}`);
  }
  const apply = (name: string, body: string) => ({
    name: `apply of ${size} bytes: ${name}`,
    costly: patch("apply-patch+yaml", body, "&fieldManager=other&force=true"),
  });
  const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: base\n";
  yield apply("block scalars", `${head}data:\n${many(size, (index) => `  k${index}: |\n    a\n    b`, "\n")}\n`);
  yield apply("one folded scalar", `${head}data:\n  a: >\n${repeat("    a\n\n", size)}`);
  yield apply("anchors", `${head}data:\n${many(size, (index) => `  k${index}: &a${index} b`, "\n")}\n`);
  yield apply(
    "merge keys",
    `x: &a {${many(size / 2, (index) => `"k${index}": v`, ", ")}}\n${head}data:\n${many(size / 2, () => "  <<: *a", "\n")}\n`,
  );
  yield apply("comments", `${head}${repeat("# a\n", size)}`);
  yield apply("documents", `${head}${repeat("---\n", size)}`);
  yield apply("tabs", `${head}data:\n  a: ${repeat("\t", size)}\n`);
  yield apply("plain scalar of many lines", `${head}data:\n  a: b\n${repeat("    c\n", size)}`);
  yield apply("quoted scalar of many lines", `${head}data:\n  a: "b\n${repeat("    c\n", size)}  "\n`);
  yield apply("numbers", `${head}data:\n  a: ${repeat("1", size)}\n`);
  yield apply("explicit keys", `${head}data:\n${many(size, (index) => `  ? k${index}\n  : v`, "\n")}\n`);
  yield apply("deep flow", `${head}data: ${repeat("[", size)}\n`);
  yield apply("deep blocks", `${head}data:\n${repeat("- ", size)}\n`);
}

function* bodies(size: number): Generator<OtherRequest> {
  const send = (name: string, path: string, body: string, method = "POST", type = "application/json") => ({
    name: `${name}, ${size} bytes`,
    costly: { method, path, headers: { "content-type": type }, body: Buffer.from(body) },
  });
  yield send("DeleteOptions with many dryRun", BASE, `{"dryRun":["All",${many(size, () => '"All"')}]}`, "DELETE");
  yield send(
    "DeleteOptions with a long uid",
    BASE,
    `{"dryRun":["All"],"preconditions":{"uid":"${repeat("a", size)}"}}`,
    "DELETE",
  );
  yield send(
    "DeleteOptions with a long policy",
    BASE,
    `{"dryRun":["All"],"propagationPolicy":"${repeat("\\n", size)}"}`,
    "DELETE",
  );
  yield send(
    "eviction of a long name",
    `${PODS}/base/eviction`,
    `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"${repeat("a.", size)}"}}`,
  );
  yield send(
    "binding to a long name",
    `${PODS}/base/binding`,
    `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"base"},"target":{"kind":"Node","name":"${repeat("a.", size)}"}}`,
  );
  yield send(
    "scale with a long selector",
    "/apis/apps/v1/namespaces/fuzz/deployments/base/scale?dryRun=All",
    `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"base"},"spec":{"replicas":1},"status":{"selector":"${repeat("a=b,", size)}"}}`,
    "PUT",
  );
  yield send(
    "token with many audiences",
    "/api/v1/namespaces/fuzz/serviceaccounts/default/token?dryRun=All",
    `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":[${many(size, (index) => `"a${index}"`)}]}}`,
  );
  yield send(
    "a list in place of an object",
    MAPS,
    `{"apiVersion":"v1","kind":"ConfigMapList","items":[${many(size, () => "{}")}]}`,
  );
  yield send(
    "unknown fields",
    `${MAPS}?dryRun=All`,
    `{"metadata":{"name":"c"},${many(size, (index) => `"f${index}":1`)}}`,
  );
  yield send(
    "unknown fields, Strict",
    `${MAPS}?dryRun=All&fieldValidation=Strict`,
    `{"metadata":{"name":"c"},${many(size, (index) => `"f${index}":1`)}}`,
  );
  yield send(
    "doubled fields, Strict",
    `${MAPS}?dryRun=All&fieldValidation=Strict`,
    `{"metadata":{"name":"c"},${many(size, () => '"data":{}')}}`,
  );
  yield send("spaces", `${MAPS}?dryRun=All`, `${repeat(" ", size)}{"metadata":{"name":"c"}}`);
  yield send(
    "one digit after the other",
    `${MAPS}?dryRun=All`,
    `{"metadata":{"name":"c","generation":${repeat("1", size)}}}`,
  );
  yield send("an exponent", `${MAPS}?dryRun=All`, `{"metadata":{"name":"c","generation":1e${repeat("1", size)}}}`);
  yield send("escapes", `${MAPS}?dryRun=All`, `{"metadata":{"name":"c"},"data":{"a":"${repeat("\\u0041", size)}"}}`);
  yield send(
    "lone surrogates",
    `${MAPS}?dryRun=All`,
    `{"metadata":{"name":"c"},"data":{"a":"${repeat("\\ud800", size)}"}}`,
  );
  for (const byte of [0x00, 0x08, 0x0a, 0x12, 0x80, 0xff]) {
    const body = Buffer.concat([Buffer.from("k8s\0"), Buffer.alloc(size, byte)]);
    const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
    yield {
      name: `protobuf of bytes ${byte}, ${size} bytes`,
      costly: { method: "POST", path: `${PODS}?dryRun=All`, headers, body },
    };
  }
}

/** Creates the object that these requests use. */
export const OTHER_BASE: readonly CostlyRequest[] = [
  { method: "POST", path: MAPS, body: Buffer.from('{"metadata":{"name":"base"},"data":{"a":"b"}}') },
  {
    method: "POST",
    path: PODS,
    body: Buffer.from('{"metadata":{"name":"base"},"spec":{"containers":[{"name":"a","image":"a"}]}}'),
  },
];

/** Requests with a long target or header, and bodies that are large in ways that no schema describes. */
export function* otherRequests(): Generator<OtherRequest> {
  yield* heads();
  for (const size of BODY_BYTES) {
    yield* patches(size);
    yield* bodies(size);
  }
}
