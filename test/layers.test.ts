import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { builtInKinds } from "../src/kinds/built-in/all.ts";

/**
 * The folders of src/ and what each may import besides itself. Each folder's README repeats its line.
 * The files beside the folders are the entry points of the package: they may import every folder.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  data: ["base"],
  storage: ["base"],
  resources: ["base", "data", "storage"],
  kinds: ["base", "data", "storage", "resources"],
  access: ["base", "data", "storage", "resources", "kinds"],
  serving: ["base", "data", "storage", "resources", "kinds", "access"],
  cluster: ["base", "data", "storage", "resources", "kinds", "access", "serving"],
  programs: ["base", "data", "storage", "resources", "kinds", "access", "serving", "cluster"],
};

/** Entry points of the package. */
const entryPoints: readonly string[] = ["cli.ts", "index.ts", "testing.ts"];

interface Prohibition {
  /** Files whose path begins with one of these. Default: every file. */
  readonly from?: readonly string[];
  /** Files the prohibition does not apply to. */
  readonly except?: readonly string[];
  readonly to: readonly string[];
  readonly because: string;
}

/** Imports that the folders allow, but that would break a rule inside of a folder. */
const prohibitions: readonly Prohibition[] = [
  { from: ["storage/"], to: ["base/api/"], because: "a store does not know what an object is" },
  { from: ["base/util/", "base/go/"], to: ["base/api/"], because: "helpers know nothing of the API" },
  { from: ["data/schema/", "data/cel/"], to: ["data/encoding/", "data/patch/"], because: "it works on values" },
  { from: ["serving/verbs/"], to: ["data/encoding/"], because: "verbs take and return values, not bytes" },
  {
    from: ["kinds/"],
    except: ["kinds/custom/", "kinds/built-in/actions/"],
    to: [
      "storage/",
      ...["collection", "create-object", "update-object", "delete-object", "kind-entries"].map(
        (name) => `resources/write/${name}.ts`,
      ),
    ],
    because: "rows describe kinds, they do not read or write objects",
  },
  { from: ["kinds/types/"], to: ["kinds/built-in/", "kinds/custom/"], because: "types know no rules" },
  {
    except: ["kinds/", "cluster/", "programs/"],
    to: ["kinds/built-in/", "kinds/custom/", "kinds/schema-files/"],
    because: "code shared by all kinds depends on none; it may import kinds/types only",
  },
  { from: ["serving/verbs/", "serving/http/", "serving/pipeline/"], to: ["kinds/"], because: "it serves all kinds" },
  {
    except: ["programs/testing/", "testing.ts"],
    to: ["programs/testing/", "testing.ts"],
    because: "S28: driven clocks, faults and forks are for tests only",
  },
  {
    except: ["programs/cli/", "cli.ts", "programs/what-if/", "programs/envtest/"],
    to: ["programs/cli/", "programs/what-if/", "programs/envtest/"],
    because: "only commands use it",
  },
];

/** Folders whose code depends on its arguments only: no I/O, clock, timers or randomness. */
const pureFolders: readonly string[] = [
  "base/api/",
  "base/util/",
  "base/go/",
  "data/schema/",
  "data/patch/",
  "data/cel/",
  "data/json-path/",
  "kinds/types/",
  "kinds/built-in/",
];

const ioModules =
  /^(node:)?(fs|net|tls|dns|dgram|https?|http2|child_process|cluster|worker_threads|sqlite|os|readline|repl|tty|inspector|timers|perf_hooks)(\/|$)/;

/**
 * Parts that are about certain kinds, test helpers, and the table of feature gates, whose names and effects are about
 * kinds; all other code must not name one.
 */
const namesKinds = [
  "kinds/",
  "cluster/",
  "access/authentication/",
  "access/authorization/",
  "access/admission/plugins/",
  // Match rules and selectors concern namespaces and the kinds that configure admission.
  ...["matching", "expressions", "policies", "webhooks", "explain", "configuration"].map(
    (folder) => `access/admission/${folder}/`,
  ),
  "serving/aggregation/",
  "serving/connect/",
  "serving/fairness/",
  "programs/testing/",
  // Examples, and what users read about what runs.
  "programs/cli/",
  "programs/transfer/",
  "programs/what-if/",
  "base/api/feature-gates.ts",
  "programs/envtest/apiserver-gates.ts",
];

/** Kinds whose names are words of their own right: only a string that is exactly the kind or resource gives them away. */
const commonWords =
  "Binding ComponentStatus Endpoints Event Eviction Job Lease Namespace Node Role Scale Secret Service Status Workload".split(
    " ",
  );

/** Names that shared code has to use although they look like a kind's. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // The scope segment of every namespaced URL.
  "base/api/request-info.ts": ["namespaces"],
  // What stands behind pods is a part of the configuration.
  "index.ts": ["Pod"],
  // The name of an authorizer.
  "programs/envtest/serve-arguments.ts": ["Node"],
  // A member of the rules of an audit policy.
  "access/audit/policy.ts": ["namespaces"],
  // The type of the variable `namespaceObject`.
  "data/cel/kubernetes/admission-environment.ts": ["Namespace"],
  // Makes one of a program's own kind.
  "programs/library/define-kind.ts": ["CustomResourceDefinition", "customresourcedefinitions"],
  // The hint for objects of unknown kinds.
  "programs/library/apply.ts": ["CustomResourceDefinition"],
  // Help texts of options.
  "serving/options.ts": ["ConfigMap"],
  "access/admission/options.ts": ["Pod"],
  "programs/server/options.ts": ["APIService", "CustomResourceDefinition"],
  // Operation ids of the token issuer's endpoints.
  "serving/endpoints/openapi/openapi-documents.ts": ["ServiceAccount"],
};

/** What a write passes through. What is known about one travels in its `Draft`, never by the identity of an object. */
const writePath = [
  "serving/verbs/",
  "resources/write/",
  "resources/model/",
  "kinds/built-in/",
  "access/admission/",
  "data/patch/",
];

/** Files of the write path with a WeakMap of their own: what it is keyed by, and lives as long as, is no object. */
const weakCaches: Readonly<Record<string, string>> = {
  "data/patch/apply/created-fields.ts": "a number per TrackingScope",
  "data/patch/apply/shape.ts": "shapes per Schema",
  "resources/model/tracking-scope.ts": "scopes per ServedResource",
  "resources/write/empty-status.ts": "the empty status per ResourceDefinition",
};

/** What the package exports: these alone export what other files define. */
const entries: readonly string[] = ["index.ts", "testing.ts"];

const isTest = (file: string) => /\.(test|suite)\.ts$/.test(file);
const folderOf = (file: string) => file.split("/")[0] ?? "";
const isPure = (file: string) => pureFolders.some((folder) => file.startsWith(folder));
const isIn = (file: string, places: readonly string[]) => places.some((place) => file.startsWith(place));

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
  const from = folderOf(file);
  const allowed = entryPoints.includes(file) ? Object.keys(mayImport) : mayImport[from];
  if (allowed === undefined) return [`${file}: ${from} has no line in the table of folders`];
  return importsOf(text).flatMap((specifier) => {
    if (!specifier.startsWith(".")) {
      return isPure(file) && ioModules.test(specifier) ? [`${file}: is pure, but imports ${specifier}`] : [];
    }
    const target = path.posix.join(path.posix.dirname(file), specifier);
    if (target.startsWith("../schemas/") || target === "../package.json") return [];
    const to = folderOf(target);
    if (to !== from && !allowed.includes(to)) return [`${file}: imports ${target}, but ${from} may not import ${to}`];
    const broken = prohibitions.find(
      (rule) =>
        isIn(target, rule.to) &&
        (rule.from === undefined || isIn(file, rule.from)) &&
        !isIn(file, rule.except ?? []) &&
        !rule.to.some((place) => place.endsWith("/") && isIn(file, [place])),
    );
    return broken ? [`${file}: must not import ${target}: ${broken.because}`] : [];
  });
}

/** The line of a folder's README that names what it may import. */
function readmeProblems(folder: string, readme: string): string[] {
  const allowed = mayImport[folder] ?? [];
  const expected = `May import: ${allowed.length === 0 ? "nothing outside this folder" : allowed.join(", ")}.`;
  return readme.split("\n").includes(expected) ? [] : [`src/${folder}/README.md lacks the line "${expected}"`];
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
  if (!isPure(file)) return [];
  const found = withoutLiterals(text).matchAll(ioGlobals);
  return Array.from(found, ([used]) => `${file}: is pure, but uses ${used}`);
}

/** Who may take time, chance and voice itself; everybody else is given an Environment (`base/util/environment.ts` says why). */
const takesTime: Readonly<Record<string, string>> = {
  "base/util/clock.ts": "is the clock",
  "base/util/random.ts": "is the source of chance",
  "base/log/system-environment.ts": "is the voice",
  "serving/http/": "times sockets",
  "base/pki/": "makes keys and certificates",
  "base/files/": "waits for locks, names temporary files",
  "storage/etcd/": "times sockets",
  "programs/server/identity.ts": "makes a secret",
  "programs/envtest/health-only-etcd.ts": "times sockets",
  "programs/envtest/lifetime.ts": "looks whether the process that started this one is there",
  "access/authentication/token-cache.ts": "makes a secret",
  "resources/pace.ts": "measures how long it has computed",
  "access/admission/plugins/pod-security/namespace-warnings.ts": "measures how long it has computed",
  "storage/suite/faulty-store.suite.ts": "is a fault that tests inject",
  "programs/testing/clock.ts": "is the clock of control planes in tests, which may run",
  "programs/testing/control-plane.ts": "picks a seed where none is given",
  "programs/testing/options.ts": "begins with the time that it is",
  "programs/testing/settle.ts": "waits for clients, which use real time",
  "programs/testing/shared.ts": "makes a secret",
  "programs/testing/test-users.ts": "makes secrets",
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

/** Files that may call JSON.parse: the wrapper, a scanner that parses single strings, programs that read their own files. */
const parsesJson: readonly string[] = ["base/util/parse-json.ts", "data/encoding/json/json-scan.ts", "programs/"];

/** JSON.parse mixes up the names of members: see `parseJsonText`. */
function jsonProblems(file: string, text: string): string[] {
  if (isIn(file, parsesJson) || !/\bJSON\.parse\(/.test(withoutComments(text))) return [];
  return [`${file}: calls JSON.parse instead of parseJsonText`];
}

/** Files of data/ that check for numbers which are not JSON values: steps of paths, and fields of protobuf messages. */
const checksOtherNumbers: readonly string[] = [
  "data/schema/duplicate-paths.ts",
  "data/encoding/json/member-path.ts",
  "data/encoding/protobuf/reader.ts",
  "data/encoding/protobuf/times.ts",
];

/** `typeof` does not find a JSON number that is an ExactInteger. CEL has numbers of its own. */
function numberProblems(file: string, text: string): string[] {
  if (!file.startsWith("data/") || isIn(file, ["data/cel/", ...checksOtherNumbers])) return [];
  if (!/typeof [^ ]+ [!=]== "number"/.test(text) || text.includes('/exact-integer.ts"')) return [];
  return [`${file}: compares typeof with "number" without isNumber or isExactInteger of exact-integer.ts`];
}

const MAX_COMPOSITION_LINES = 60;

/** Functions of the composition that are too long to read as a table of contents. */
function compositionProblems(file: string, text: string): string[] {
  if (!file.startsWith("programs/server/")) return [];
  const problems: string[] = [];
  let start: { readonly line: number; readonly name: string } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const [, name] = /^(?:export )?(?:async )?function\*? (\w+)/.exec(line) ?? [];
    if (name !== undefined) start = { line: index, name };
    if (line !== "}" || start === undefined) continue;
    const length = index - start.line + 1;
    if (length > MAX_COMPOSITION_LINES) problems.push(`${file}: ${start.name} has ${length} lines`);
    start = undefined;
  }
  return problems;
}

const root = path.join(import.meta.dirname, "..", "src");
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((file) => file.split(path.sep).join("/"))
  .filter((file) => file.endsWith(".ts") && !isTest(file))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") }));

suite("the sources", () => {
  test("import only what the table of folders allows", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => importProblems(file, text)),
      [],
    );
  });

  test("do not import each other in a circle, not even for types", () => {
    assert.deepEqual(circleProblems(sources), []);
  });

  test("are in at most ten folders, each with a README that names what it may import", () => {
    const folders = new Set(
      sources
        .map(({ file }) => file)
        .filter((file) => file.includes("/"))
        .map(folderOf),
    );
    assert.ok(folders.size <= 10, [...folders].join());
    assert.deepEqual([...folders].sort(), Object.keys(mayImport).sort());
    assert.deepEqual(
      [...folders].flatMap((folder) =>
        readmeProblems(folder, readFileSync(path.join(root, folder, "README.md"), "utf8")),
      ),
      [],
    );
  });

  test("have a table of folders without cycles", () => {
    const order = Object.keys(mayImport);
    for (const [folder, allowed] of Object.entries(mayImport)) {
      assert.ok(
        allowed.every((other) => order.indexOf(other) < order.indexOf(folder)),
        folder,
      );
    }
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

  test("parse JSON without mixing up the names of members", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => jsonProblems(file, text)),
      [],
    );
    assert.equal(jsonProblems("serving/x.ts", "JSON.parse(text);").length, 1);
  });

  test("find numbers that a double cannot represent", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => numberProblems(file, text)),
      [],
    );
    const bare = 'if (typeof value === "number") return 1;';
    assert.equal(numberProblems("data/patch/made-up.ts", bare).length, 1);
    const safe = `import { isExactInteger } from "../../base/util/exact-integer.ts";\n${bare}`;
    assert.deepEqual(numberProblems("data/patch/made-up.ts", safe), []);
  });

  test("compose the server in functions of at most 60 lines", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => compositionProblems(file, text)),
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

  test("export by name, and only entry points export what others define", () => {
    assert.deepEqual(
      sources.flatMap(({ file, text }) => shapeProblems(file, text)),
      [],
    );
  });
});

suite("the rules themselves", () => {
  test("nothing that a server loads may import what is for tests only", () => {
    for (const file of [
      "cli.ts",
      "index.ts",
      "programs/cli/command-line.ts",
      "programs/server/server.ts",
      "programs/library/start-server.ts",
    ]) {
      const up = "../".repeat(file.split("/").length - 1) || "./";
      assert.equal(importProblems(file, `import { Faults } from "${up}programs/testing/faults.ts";`).length, 1, file);
      assert.equal(importProblems(file, `import { Faults } from "${up}testing.ts";`).length, 1, file);
    }
  });

  test("time that is taken is found, time that is asked for is not", () => {
    const takes = "Math.random();\nsetTimeout(f, Date.now());";
    assert.equal(environmentProblems("serving/verbs/watch.ts", takes).length, 3);
    assert.deepEqual(environmentProblems("serving/verbs/watch.ts", "// Date.now\nclock.setInterval(1, f);"), []);
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
    for (const file of [
      "kinds/built-in/core/pod/pod.ts",
      "kinds/types/pod.ts",
      "kinds/built-in/actions/pod-binding.ts",
      "data/schema/decode.ts",
    ]) {
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
      rules.flatMap((rule) => rule("kinds/built-in/core/pod/pod.ts", text)),
      [],
    );
  });

  const rejected: readonly (readonly [file: string, text: string])[] = [
    ["storage/memory.ts", 'import { x } from "../base/api/object.ts";'],
    ["storage/memory.ts", 'import type { Schema } from "../data/schema/schema.ts";'],
    ["base/api/object.ts", 'import {\n  x,\n} from "../../resources/model/keys.ts";'],
    ["serving/verbs/get.ts", 'const { json } = await import("../../data/encoding/json/json.ts");'],
    ["access/admission/chain.ts", 'import { route } from "../../serving/pipeline/router.ts";'],
    ["kinds/built-in/core/group.ts", 'import { Collection } from "../../../resources/write/collection.ts";'],
    ["serving/endpoints/discovery.ts", 'import { builtInKinds } from "../../kinds/built-in/all.ts";'],
    ["serving/verbs/get.ts", 'import type { PodSpec } from "../../kinds/types/pod.ts";'],
    ["kinds/types/pod.ts", 'import { isObject } from "../built-in/cells.ts";'],
    ["data/schema/structural/default.ts", 'import { readFileSync } from "node:fs";'],
    ["base/util/x.ts", 'import { setTimeout } from "node:fs/promises";'],
    ["programs/server/server.ts", 'import { up } from "../cli/commands/up.ts";'],
    ["helpers/x.ts", ""],
  ];
  for (const [file, text] of rejected) {
    test(`${file} may not: ${text || "exist without a line in the table"}`, () =>
      assert.equal(importProblems(file, text).length, 1));
  }

  const allowed: readonly (readonly [file: string, text: string])[] = [
    ["data/patch/merge.ts", 'import { find } from "../schema/schema.ts";'],
    [
      "programs/server/server.ts",
      'import { all } from "../../kinds/built-in/all.ts";\nimport { compose } from "../../serving/pipeline/pipeline.ts";',
    ],
    ["storage/etcd/store.ts", 'import type { Store } from "../store.ts";\nimport { connect } from "node:http2";'],
    ["base/api/names.ts", '// import { x } from "../../serving/http/listener.ts";'],
  ];
  for (const [file, text] of allowed) {
    test(`${file} may: ${text}`, () => assert.deepEqual(importProblems(file, text), []));
  }

  test("a long function of the composition is found", () => {
    const text = (lines: number) => `export async function build() {\n${"  step();\n".repeat(lines)}}\n`;
    assert.deepEqual(compositionProblems("programs/server/server.ts", text(58)), []);
    assert.equal(compositionProblems("programs/server/server.ts", text(59)).length, 1);
    assert.deepEqual(compositionProblems("serving/verbs/get.ts", text(100)), []);
  });

  test("a README without the line of the table is found", () => {
    assert.deepEqual(readmeProblems("storage", "# storage\n\nMay import: base.\n"), []);
    assert.equal(readmeProblems("storage", "# storage\n\nMay import: base, data.\n").length, 1);
  });

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
    ['const x = "namespaces";', [], "base/api/request-info.ts"],
    ['if (kind === "Pod") return;', [], "access/admission/plugins/pod-security.ts"],
    ["const podium = new NodeList(root.nodes);", []],
    ["// a Pod, for example\nconst namespace = key.namespace;", []],
    ["/** Like the pods of a ConfigMap. */", []],
  ];
  for (const [text, named, file = "serving/verbs/get.ts"] of namings) {
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

  test("weak collections of modules in the write path are found", () => {
    const marks = "const marked = new WeakSet<KubeObject>();";
    assert.equal(weakProblems("kinds/built-in/core/pod/pod.ts", marks).length, 1);
    assert.equal(weakProblems("data/patch/apply/x.ts", "export const known: Known =\n  new WeakMap();").length, 1);
    assert.equal(weakProblems("data/patch/apply/shape.ts", "").length, 1);
    assert.equal(weakProblems("serving/http/x.ts", marks).length, 0);
    assert.equal(weakProblems("serving/verbs/get.ts", `function f() {\n  ${marks}\n}`).length, 0);
    assert.equal(weakProblems("data/patch/apply/shape.ts", marks).length, 0);
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
  });
});
