import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { builtInKinds } from "../src/kinds/all.ts";

interface Part {
  readonly layer: number;
  /** Neighbours in the same layer that it may import nevertheless. */
  readonly sees?: readonly string[];
  /** Parts or files of lower layers that it must not import. */
  readonly never?: readonly string[];
  /** The only parts that may import it. */
  readonly onlyFor?: readonly string[];
  /** Knows only what it is given: no I/O, clock, timers or chance, apart from the files of `takesTime`. */
  readonly isPure?: boolean;
}

/** What reads and writes the store for verbs and controllers. */
const writesObjects = ["collection", "create-object", "update-object", "delete-object", "kind-entries"].map(
  (name) => `resources/write/${name}.ts`,
);

/**
 * Every part of src/ and what it may import: parts of lower layers, itself, and what `sees` adds.
 * Generic code must not depend on a kind, so that few parts import `kinds` and `types`.
 */
const parts: Readonly<Record<string, Part>> = {
  // Reads the version of Node before it loads anything else.
  "cli.ts": { layer: 9 },
  "node-version.ts": { layer: 0, isPure: true },
  "command-line.ts": { layer: 8, sees: ["commands"] },
  // One file per command, loaded by name, and what several of them share.
  commands: { layer: 8, onlyFor: ["command-line.ts"] },
  "index.ts": { layer: 8 },
  // S28: driven clocks, faults, forks and resets are for tests. Nothing that `serve` loads may reach them.
  "testing.ts": { layer: 9 },
  testing: { layer: 8, onlyFor: ["testing.ts"] },
  // The programs that stand in the place of kube-apiserver and etcd in Go tests.
  envtest: { layer: 7, sees: ["server"], onlyFor: ["commands"] },
  // What a cluster would do with manifests, told from a dump of its state.
  "what-if": { layer: 7, sees: ["transfer", "server", "pipeline"], onlyFor: ["commands"] },
  // Dumps of clusters: read, written, and put into stores.
  transfer: { layer: 7, sees: ["server"], onlyFor: ["commands", "what-if"] },
  // Builds all parts and connects them; the only part that knows everything.
  server: { layer: 7, sees: ["pipeline"] },
  pipeline: { layer: 7 },
  http: { layer: 6 },
  endpoints: { layer: 6 },
  // What is behind nodes, pods and services.
  connect: { layer: 6, onlyFor: ["server", "aggregation", "index.ts"] },
  // The servers behind APIServices.
  aggregation: { layer: 6, sees: ["connect"], onlyFor: ["server"] },
  // Verbs take and give values; the format of a body stays hidden behind the call.
  verbs: { layer: 5, never: ["encoding"] },
  auth: { layer: 4 },
  admission: { layer: 4 },
  controllers: { layer: 4 },
  // What kinds do besides being stored. Its functions receive what they need: objects, clock, chance, network.
  // Kinds that CustomResourceDefinitions define, and the loops that follow these.
  custom: { layer: 4, sees: ["controllers", "kinds"], onlyFor: ["server"] },
  actions: { layer: 4, sees: ["kinds"], isPure: true, onlyFor: ["server"] },
  // Rows describe, they do not act: they name their actions.
  kinds: { layer: 4, never: [...writesObjects, "storage"], onlyFor: ["server", "actions", "custom"], isPure: true },
  audit: { layer: 4 },
  flow: { layer: 4 },
  // Finds the shapes of built-in kinds, and reads the package's own schema files for that, so that kinds need not.
  "schema-files": { layer: 3, onlyFor: ["server", "kinds", "custom"] },
  resources: { layer: 3 },
  // Requests to other servers.
  client: { layer: 3 },
  // A store must not know what an object is.
  storage: { layer: 2, never: ["api"] },
  patch: { layer: 2, sees: ["schema"], isPure: true },
  encoding: { layer: 2, sees: ["schema"] },
  schema: { layer: 2, isPure: true },
  // The expression language; it knows nothing of kinds or requests.
  cel: { layer: 2, isPure: true },
  // The shapes of objects as Kubernetes' types.go has them, for the parts that know kinds.
  types: {
    layer: 2,
    isPure: true,
    onlyFor: ["server", "actions", "admission", "controllers", "auth", "kinds", "custom", "aggregation", "connect"],
  },
  api: { layer: 1, isPure: true },
  lib: { layer: 0, isPure: true },
};

const ioModules =
  /^(node:)?(fs|net|tls|dns|dgram|https?|http2|child_process|cluster|worker_threads|sqlite|os|readline|repl|tty|inspector|timers|perf_hooks)(\/|$)/;

/**
 * Parts that are about certain kinds, test helpers, and the table of feature gates, whose names and effects are about
 * kinds; all other code must not name one.
 */
const namesKinds = [
  "kinds/",
  "actions/",
  "types/",
  "auth/",
  "admission/plugins/",
  // Rules and selectors are about namespaces, and about what configures admission itself.
  "admission/matching/",
  "admission/expressions/",
  "admission/policies/",
  "admission/webhooks/",
  "admission/explain/",
  "controllers/",
  "custom/",
  "aggregation/",
  "connect/",
  "server/connect/",
  // Plugins that ask policies are called like the kinds of these.
  "server/admission/",
  "testing/",
  // Examples, and what users are told of that runs or does not.
  "commands/",
  "transfer/",
  "what-if/",
  "api/feature-gates.ts",
  "envtest/apiserver-gates.ts",
];

/** Kinds whose names are words of their own right: only a string that is exactly the kind or resource gives them away. */
const commonWords =
  "Binding ComponentStatus Endpoints Event Eviction Job Lease Namespace Node Role Scale Secret Service Status Workload".split(
    " ",
  );

/** Names that shared code has to use although they look like a kind's. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // The scope segment of every namespaced URL.
  "api/request-info.ts": ["namespaces"],
  // What stands behind pods is a part of the configuration.
  "index.ts": ["Pod"],
  // A member of the rules of an audit policy.
  "audit/policy.ts": ["namespaces"],
  // The type of the variable `namespaceObject`.
  "cel/kubernetes/admission-environment.ts": ["Namespace"],
  // Makes one of a program's own kind.
  "server/library/define-kind.ts": ["CustomResourceDefinition", "customresourcedefinitions"],
  // Operation ids of the token issuer's endpoints.
  "endpoints/openapi/openapi-documents.ts": ["ServiceAccount"],
};

/** What a write passes through. What is known about one travels in its `Draft`, never by the identity of an object. */
const writePath = ["verbs/", "resources/write/", "resources/model/", "kinds/", "admission/", "patch/"];

/** Files of the write path with a WeakMap of their own: what it is keyed by, and lives as long as, is no object. */
const weakCaches: Readonly<Record<string, string>> = {
  "patch/apply/created-fields.ts": "a number per TrackingScope",
  "patch/apply/shape.ts": "shapes per Schema",
  "resources/model/tracking-scope.ts": "scopes per ServedResource",
  "resources/write/empty-status.ts": "the empty status per ResourceDefinition",
};

/** What the package exports: these alone export what other files define. */
const entries: readonly string[] = ["index.ts", "testing.ts"];

const maxLines = 400;
const maxFilesOfFolder = 30;

/** Rows are data. */
const isData = (file: string) => /^kinds\/.*\bgroup\.ts$/.test(file) || file.startsWith("schemas/");

const isTest = (file: string) => /\.(test|suite)\.ts$/.test(file);
const partOf = (file: string) => file.split("/")[0] ?? "";

/** Specifiers of all imports and re-exports, dynamic ones included. */
function importsOf(text: string): string[] {
  const pattern = /(?:\bfrom|\bimport)\s*\(?\s*["']([^"']+)["']/g;
  return [...withoutComments(text).matchAll(pattern)].map((match) => match[1] ?? "");
}

const literalOrComment = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const withoutLiterals = (text: string) => text.replace(literalOrComment, "");
const withoutComments = (text: string) =>
  text.replace(literalOrComment, (_, literal: string | undefined) => literal ?? "");

function importProblems(file: string, text: string): string[] {
  const from = partOf(file);
  const own = parts[from];
  if (own === undefined) return [`${file}: ${from} has no row in the table of layers`];
  return importsOf(text).flatMap((specifier) => {
    if (!specifier.startsWith(".")) {
      return own.isPure && ioModules.test(specifier) ? [`${file}: ${from} stays pure, but imports ${specifier}`] : [];
    }
    const target = path.posix.join(path.posix.dirname(file), specifier);
    if (target.startsWith("../schemas/") || target === "../package.json") return [];
    const to = partOf(target);
    const other = parts[to];
    if (other === undefined) return [`${file}: imports ${target}, which is not a part of src/`];
    if (to === from) return [];
    if (other.onlyFor && !other.onlyFor.includes(from)) {
      return [`${file}: only ${other.onlyFor.join(", ")} may import ${to}`];
    }
    if (own.never?.some((name) => target === name || to === name))
      return [`${file}: ${from} must not import ${target}`];
    return other.layer < own.layer || own.sees?.includes(to)
      ? []
      : [`${file}: imports ${target}, which is not below ${from}`];
  });
}

/** The files that a file imports, types included. */
function targetsOf(file: string, text: string): string[] {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => path.posix.join(path.posix.dirname(file), specifier));
}

/** Every import that closes a circle, told as the way round: "a.ts → b.ts → a.ts". */
function circleProblems(files: readonly { file: string; text: string }[]): string[] {
  const targets = new Map(files.map(({ file, text }) => [file, targetsOf(file, text)]));
  const problems: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    const start = way.indexOf(file);
    if (start >= 0) problems.push(`files import each other in a circle: ${[...way.slice(start), file].join(" → ")}`);
    if (start >= 0 || finished.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...way, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return problems;
}

function folderProblems(files: readonly string[]): string[] {
  const counts = Map.groupBy(files, (file) => path.posix.dirname(file));
  return [...counts]
    .filter(([, { length }]) => length > maxFilesOfFolder)
    .map(([folder, { length }]) => `${folder}: ${length} source files, the limit is ${maxFilesOfFolder}`);
}

/** Splits a name into its words: "isPodReady" gives is, Pod, Ready; "apps/v1 configmaps" gives apps, v1, configmaps. */
const singleWords = (code: string) => code.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? [];

function kindProblems(file: string, text: string, kinds: readonly { kind: string; plural: string }[]): string[] {
  if (namesKinds.some((folder) => file.startsWith(folder))) return [];
  const code = withoutComments(text);
  const literals = new Set([...code.matchAll(literalOrComment)].map((match) => (match[1] ?? "").slice(1, -1)));
  const words = new Set(singleWords(code).map((word) => word.toLowerCase()));
  const isNamed = ({ kind, plural }: { kind: string; plural: string }) => {
    const except = exceptions[file] ?? [];
    if (except.includes(kind) || except.includes(plural)) return false;
    if (literals.has(kind) || literals.has(plural)) return true;
    if (commonWords.includes(kind)) return false;
    // A kind of one word is looked for among the words of names, a longer one anywhere in them.
    if (singleWords(kind).length === 1) return words.has(kind.toLowerCase()) || words.has(plural);
    return code.includes(kind) || words.has(plural);
  };
  return [...new Set(kinds.filter(isNamed).map(({ kind }) => `${file}: shared code names the kind ${kind}`))];
}

function documentationProblems(file: string, text: string): string[] {
  const lines = text.split("\n");
  const described = new Set<string>();
  return lines.flatMap((line, index) => {
    const match =
      /^export (?:declare )?(?:abstract |async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/.exec(line);
    const name = match?.[1];
    if (name === undefined) return [];
    if (lines[index - 1]?.trimEnd().endsWith("*/")) described.add(name);
    return described.has(name) ? [] : [`${file}:${index + 1}: ${name} has no doc comment directly above`];
  });
}

function shapeProblems(file: string, text: string): string[] {
  const problems: string[] = [];
  const lineCount = text.split("\n").length - 1;
  if (lineCount > maxLines && !isData(file)) problems.push(`${file}: ${lineCount} lines, the limit is ${maxLines}`);
  if (/^export default\b/m.test(text)) problems.push(`${file}: has a default export`);
  if (path.posix.basename(file) === "index.ts" && file !== "index.ts")
    problems.push(`${file}: there is only one index.ts`);
  if (!entries.includes(file) && /^export (type )?(\*|\{[^}]*\}) from\b/m.test(text)) {
    problems.push(`${file}: only ${entries.join(" and ")} export what another file defines`);
  }
  return problems;
}

const takenTime =
  /\b(?:Date\.now|performance\.now|setTimeout|setInterval|Math\.random|randomUUID|randomInt|randomBytes|getRandomValues)\b|\bnew Date\(\)/g;

/** What Node has without an import to reach outside the process. */
const ioGlobals = /(?<![\w.])(?:fetch\(|new (?:WebSocket|EventSource|Worker)\b|process\.\w+)/g;

function purityProblems(file: string, text: string): string[] {
  const part = partOf(file);
  if (!parts[part]?.isPure) return [];
  const found = withoutLiterals(text).matchAll(ioGlobals);
  return Array.from(found, ([used]) => `${file}: ${part} stays pure, but uses ${used}`);
}

/** Who may take time, chance and voice itself; everybody else is given an Environment (`lib/environment.ts` says why). */
const takesTime: Readonly<Record<string, string>> = {
  "lib/clock.ts": "is the clock",
  "lib/random.ts": "is the source of chance",
  "server/system-environment.ts": "is the voice",
  "http/": "times sockets, makes keys and certificates",
  "storage/etcd/": "times sockets",
  "server/identity.ts": "makes a secret",
  "envtest/health-only-etcd.ts": "times sockets",
  "envtest/lifetime.ts": "looks whether the process that started this one is there",
  "auth/token-cache.ts": "makes a secret",
  "resources/pace.ts": "measures how long it has computed",
  "admission/plugins/pod-security/namespace-warnings.ts": "measures how long it has computed",
  "storage/faulty-store.ts": "is a fault that tests inject",
  "testing/clock.ts": "is the clock of control planes in tests, which may run",
  "testing/control-plane.ts": "waits in real time, and picks a seed where none is given",
  "testing/options.ts": "begins with the time that it is",
  "testing/shared.ts": "makes a secret",
  "testing/test-users.ts": "makes secrets",
};

function environmentProblems(file: string, text: string): string[] {
  if (Object.keys(takesTime).some((place) => file === place || (place.endsWith("/") && file.startsWith(place)))) {
    return [];
  }
  const code = withoutComments(text).replaceAll(/\bclock\.set\w+/g, "");
  return [...code.matchAll(takenTime)].map(([taken]) => `${file}: takes ${taken} instead of asking its Environment`);
}

/** Weak collections of modules, which outlive every request; those inside of functions and classes do not count. */
function weakProblems(file: string, text: string): string[] {
  if (!writePath.some((folder) => file.startsWith(folder))) return [];
  const found = /^(?:export )?(?:const|let|var) [^;{]*?new Weak(?:Map|Set)\b/m.test(withoutComments(text));
  if (found === file in weakCaches) return [];
  return [found ? `${file}: facts about a write belong into its Draft` : `${file}: has no weak cache any more`];
}

/** What counts as a name in a comment: a reader can search for it, here, upstream or in the API's documentation. */
const searchable: readonly RegExp[] = [
  /`[^`]+`/,
  // A message.
  /"[^"]{3,}"/,
  // camelCase, and dotted like spec.nodeName or encoding/json's package path.
  /\b[a-z]+[0-9]*[A-Z]\w*/,
  /\b[A-Za-z][\w-]*\.[A-Za-z][\w-]+/,
  // Kinds, feature gates and Go functions: ReplicaSet, IPAddress, SetDefaults_Job.
  /\b[A-Z][a-z0-9]+_?[A-Z]\w*/,
  /\b[A-Z]{2,}[a-z]\w+/,
  // HTTP: status codes and headers.
  /\b(?:20[0-6]|30[1-8]|4\d\d|50[0-5])\b/,
  /\b(?:[A-Z][A-Za-z]+-[A-Z]\w+|Accept|Origin|Warning header)\b/,
  /\bKEP-\d+\b/,
];

/** A deviation or a quirk that is kept for compatibility says of what: of a field, gate, function, header or message. */
function compatProblems(file: string, text: string): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const start = line.indexOf("Compat:");
    if (start < 0) return [];
    const isBlock = /^\s*(?:\/\*|\*)/.test(line);
    const isGoingOn = (next: string) => (isBlock ? !/\*\/\s*$/.test(next) : /^\s*\/\//.test(next));
    let end = index + 1;
    if (isBlock) while (end < lines.length && isGoingOn(lines[end - 1] ?? "")) end++;
    else while (isGoingOn(lines[end] ?? "")) end++;
    const told = [line.slice(start), ...lines.slice(index + 1, end)].join("\n");
    return searchable.some((name) => name.test(told)) ? [] : [`${file}:${index + 1}: "Compat:" names nothing`];
  });
}

const root = path.join(import.meta.dirname, "..", "src");
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((file) => file.split(path.sep).join("/"))
  .filter((file) => file.endsWith(".ts") && !isTest(file))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") }));

suite("the sources", () => {
  test("import only what is below them", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => importProblems(file, text)),
      [],
    );
  });

  test("do not import each other in a circle, not even for types", () => {
    assert.deepEqual(circleProblems(sources), []);
  });

  test("stand in folders that one can overlook", () => {
    assert.deepEqual(folderProblems(sources.map(({ file }) => file)), []);
  });

  test("name no kind where they are shared by all kinds", () => {
    const kinds = builtInKinds();
    assert.ok(kinds.length > 50, "the list of built-in kinds is there");
    assert.deepEqual(
      sources.flatMap(({ file, text }) => kindProblems(file, text, kinds)),
      [],
    );
  });

  test("are given time, chance and voice", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => environmentProblems(file, text)),
      [],
    );
  });

  test("know only what they are given, where they are pure", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => purityProblems(file, text)),
      [],
    );
  });

  test("have a doc comment on every export", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => documentationProblems(file, text)),
      [],
    );
  });

  test("keep no facts about a write beside its draft", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => weakProblems(file, text)),
      [],
    );
  });

  test("say what they are compatible in", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => compatProblems(file, text)),
      [],
    );
  });

  test("are small, and export by name from one place", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => shapeProblems(file, text)),
      [],
    );
  });
});

suite("the rules themselves", () => {
  test("no part that a server is made of may reach what only tests may do", () => {
    for (const file of [
      "cli.ts",
      "command-line.ts",
      "index.ts",
      "server/server.ts",
      "pipeline/pipeline.ts",
      "storage/memory.ts",
    ]) {
      const up = file.includes("/") ? "../" : "./";
      assert.equal(importProblems(file, `import { Faults } from "${up}testing/faults.ts";`).length, 1, file);
      assert.equal(importProblems(file, `import { Faults } from "${up}testing.ts";`).length, 1, file);
    }
  });

  test("time that is taken is found, time that is asked for is not", () => {
    const takes = "Math.random();\nsetTimeout(f, Date.now());";
    assert.equal(environmentProblems("verbs/watch.ts", takes).length, 3);
    assert.deepEqual(environmentProblems("verbs/watch.ts", "// Date.now\nclock.setInterval(1, f);"), []);
  });

  const impure: readonly string[] = [
    "const at = Date.now();",
    "const at = new Date();",
    "const at = performance.now();",
    "const chance = Math.random();",
    'import { randomUUID } from "node:crypto";',
    'import { randomBytes, verify } from "node:crypto";',
    "crypto.getRandomValues(bytes);",
    "setTimeout(call, 5);",
    "setInterval(call, 5);",
    'import { scheduler } from "node:timers/promises";',
    'import { isIPv6 } from "node:net";',
    "await fetch(url);",
    "const { HOME } = process.env;",
  ];
  for (const text of impure) {
    for (const file of ["kinds/core/pod/pod.ts", "types/pod.ts", "actions/pod-binding.ts", "schema/decode.ts"]) {
      test(`${file} may not: ${text}`, () => {
        const found = [importProblems, environmentProblems, purityProblems].flatMap((rule) => rule(file, text));
        assert.equal(found.length, 1, found.join());
      });
    }
  }

  test("what only looks impure is let through", () => {
    const text =
      'import { createHash } from "node:crypto"; // fetch(x)\nprefetch(url); new Date(now); "process.env"; a.fetch(b);';
    const rules = [importProblems, environmentProblems, purityProblems];
    assert.deepEqual(
      rules.flatMap((rule) => rule("kinds/core/pod/pod.ts", text)),
      [],
    );
  });

  const refused: readonly (readonly [file: string, text: string])[] = [
    ["storage/memory.ts", 'import { x } from "../api/object.ts";'],
    ["storage/memory.ts", 'import type { Schema } from "../schema/schema.ts";'],
    ["api/object.ts", 'import {\n  x,\n} from "../resources/model/keys.ts";'],
    ["verbs/get.ts", 'const { json } = await import("../encoding/json/json.ts");'],
    ["auth/rbac.ts", 'import { chain } from "../admission/chain.ts";'],
    ["kinds/core/group.ts", 'import { Collection } from "../../resources/write/collection.ts";'],
    ["endpoints/discovery.ts", 'import { builtInKinds } from "../kinds/all.ts";'],
    ["verbs/get.ts", 'import type { PodSpec } from "../types/pod.ts";'],
    ["types/pod.ts", 'import { isObject } from "../kinds/cells.ts";'],
    ["schema/structural/default.ts", 'import { readFileSync } from "node:fs";'],
    ["lib/x.ts", 'import { setTimeout } from "node:fs/promises";'],
    ["http/listener.ts", 'import { startTestServer } from "../testing/server.ts";'],
    ["helpers/x.ts", ""],
  ];
  for (const [file, text] of refused) {
    test(`${file} may not: ${text || "exist without a row"}`, () => assert.equal(importProblems(file, text).length, 1));
  }

  const allowed: readonly (readonly [file: string, text: string])[] = [
    ["patch/merge.ts", 'import { find } from "../schema/schema.ts";'],
    [
      "server/server.ts",
      'import { builtInKinds } from "../kinds/all.ts";\nimport { compose } from "../pipeline/pipeline.ts";',
    ],
    ["storage/etcd/store.ts", 'import type { Store } from "../store.ts";\nimport { connect } from "node:http2";'],
    ["api/names.ts", '// import { x } from "../http/listener.ts";'],
  ];
  for (const [file, text] of allowed) {
    test(`${file} may: ${text}`, () => assert.deepEqual(importProblems(file, text), []));
  }

  const kinds = [
    { kind: "Pod", plural: "pods" },
    { kind: "Node", plural: "nodes" },
    { kind: "Namespace", plural: "namespaces" },
    { kind: "ConfigMap", plural: "configmaps" },
  ];
  const namings: readonly (readonly [text: string, named: readonly string[], file?: string])[] = [
    ['if (kind === "Pod") return;', ["Pod"]],
    ["const isPodReady = 1;", ["Pod"]],
    ["const url = `/api/v1/namespaces/x/pods`;", ["Pod"]],
    ['const url = "/api/v1/configmaps";', ["ConfigMap"]],
    ["function readConfigMap() {}", ["ConfigMap"]],
    ['if (plural === "nodes") return;', ["Node"]],
    ['if (kind === "Node") return;', ["Node"]],
    ['const x = "namespaces";', ["Namespace"]],
    ['const x = "namespaces";', [], "api/request-info.ts"],
    ['if (kind === "Pod") return;', [], "admission/plugins/pod-security.ts"],
    ["const podium = new NodeList(root.nodes);", []],
    ["// a Pod, for example\nconst namespace = key.namespace;", []],
    ["/** Like the pods of a ConfigMap. */", []],
  ];
  for (const [text, named, file = "verbs/get.ts"] of namings) {
    test(`${file}: ${text} names ${named.join() || "no kind"}`, () => {
      assert.deepEqual(
        kindProblems(file, text, kinds),
        named.map((kind) => `${file}: shared code names the kind ${kind}`),
      );
    });
  }

  test("a circle of files is told as the way round it", () => {
    const circle = [
      { file: "a/x.ts", text: 'import { y } from "./y.ts";' },
      { file: "a/y.ts", text: 'import type { z } from "../b/z.ts";' },
      { file: "b/z.ts", text: 'import type { y } from "../a/y.ts";\nimport { w } from "./w.ts";' },
      { file: "b/w.ts", text: 'import { createHash } from "node:crypto";' },
    ];
    assert.deepEqual(circleProblems(circle), ["files import each other in a circle: a/y.ts → b/z.ts → a/y.ts"]);
    assert.deepEqual(circleProblems([{ file: "a.ts", text: 'import { a } from "./a.ts";' }]).length, 1);
    assert.deepEqual(circleProblems(circle.slice(0, 2)), []);
  });

  test("a folder with too many files is found", () => {
    const files = Array.from({ length: maxFilesOfFolder }, (_, index) => `verbs/${index}.ts`);
    assert.deepEqual(folderProblems(files), []);
    assert.deepEqual(folderProblems([...files, "verbs/more.ts"]).length, 1);
  });

  test("weak collections of modules in the write path are found", () => {
    const marks = "const marked = new WeakSet<KubeObject>();";
    assert.equal(weakProblems("kinds/core/pod/pod.ts", marks).length, 1);
    assert.equal(weakProblems("patch/apply/x.ts", "export const known: Known =\n  new WeakMap();").length, 1);
    assert.equal(weakProblems("patch/apply/shape.ts", "").length, 1);
    assert.equal(weakProblems("http/x.ts", marks).length, 0);
    assert.equal(weakProblems("verbs/get.ts", `function f() {\n  ${marks}\n}`).length, 0);
    assert.equal(weakProblems("patch/apply/shape.ts", marks).length, 0);
  });

  const vague = [
    "// Compat: these belong to a feature that is off.",
    "/** Compat: the account has two names; the newer one wins. */",
    "// Compat: an alias from the time when nodes were called hosts.",
    "/** A request is not both Approved and Denied in `status`. Compat: this is said at the end. */",
    "// Compat: the real server says it in other words, e.g. in JSON.\nconst nodeName = `a`;",
    "/**\n * Compat: the real server\n * says so.\n */\nconst nodeName = 404;",
  ];
  for (const text of vague) {
    test(`${JSON.stringify(text)} names nothing`, () => assert.equal(compatProblems("x.ts", text).length, 1));
  }

  const named = [
    "// Compat: dropped unless the feature gate ContainerStopSignals is on.",
    "/** Compat: serviceAccountName wins over serviceAccount, its deprecated alias; both are stored. */",
    "// Compat: the field selector spec.host is an alias of spec.nodeName.",
    "// Compat: the path of this error\n// is `status[0]`.",
    "/**\n * Compat: an update that names the port twice\n * fails with 500.\n */",
    '// Compat: the message "Too long" comes first.',
    "// Compat: the answer has a Content-Type of its own.",
    "// Compat: an IPAddress stays, see KEP-1880.",
    "// no quirk at all",
  ];
  for (const text of named) {
    test(`${JSON.stringify(text)} is fine`, () => assert.deepEqual(compatProblems("x.ts", text), []));
  }

  test("an export without a comment, a default export, a second index and a re-export are found", () => {
    assert.equal(documentationProblems("x.ts", "\nexport const a = 1;\n").length, 1);
    assert.equal(
      documentationProblems("x.ts", "/** One. */\nexport function a(): void;\nexport function a() {}\n").length,
      0,
    );
    assert.equal(shapeProblems("x.ts", "export default 1;\n").length, 1);
    assert.equal(shapeProblems("http/index.ts", "").length, 1);
    assert.equal(shapeProblems("http/x.ts", 'export { a } from "./a.ts";\n').length, 1);
    assert.equal(shapeProblems("http/x.ts", "\n".repeat(maxLines + 1)).length, 1);
    assert.equal(shapeProblems("kinds/core/group.ts", "\n".repeat(maxLines + 1)).length, 0);
  });
});
