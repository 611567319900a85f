import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const root = path.join(import.meta.dirname, "..", "src");
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => /(?<!\.test|\.suite)\.ts$/.test(file))
  .map((file) => ({ file: file.replaceAll(path.sep, "/"), text: readFileSync(path.join(root, file), "utf8") }));

/** What not every machine has, and where it is used all the same, with what happens where it is missing. */
const RULES: readonly { readonly pattern: RegExp; readonly allowed: Readonly<Record<string, string>> }[] = [
  {
    // Folders of Unix.
    pattern: /["'`]\/(?:proc|dev|tmp|etc|usr|var|bin|sbin|home|root)\//,
    allowed: {
      "access/admission/plugins/service-account.ts": "a path inside of containers",
      "programs/envtest/lifetime.ts": "programs of a suite that was killed end later where it cannot be read",
      "kinds/built-in/core/pod/pod-spec-defaults.ts": "a path inside of containers",
      "kinds/built-in/core/volume/volume-defaults.ts": "a path on nodes",
      "base/log/log-lines.ts": "standard error is used as it is where it cannot be opened again",
      "base/metrics/process-metrics.ts": "metrics that are left out elsewhere",
    },
  },
  {
    // Absent on Windows.
    pattern: /\bprocess\.(?:get|set)e?[ug]id\b|\bprocess\.umask\b|\bprocess\.(?:get|set)groups\b/,
    allowed: {
      "base/files/private-file.ts": "the owner is not checked where there is none",
      "programs/envtest/shared/host.ts": "sockets of Windows are pipes and take another way",
    },
  },
  {
    // `/C:/…` on Windows: `fileURLToPath` gives what can be opened.
    pattern: /\bnew URL\([^)]*import\.meta\.url\)\.pathname\b/,
    allowed: {},
  },
  {
    // `C:\…` is no address of a module: `pathToFileURL` makes one.
    pattern: /\bimport\((?!")(?!pathToFileURL\()/,
    allowed: { "access/admission/configuration/functions/function-thread.ts": "is given a URL" },
  },
];

for (const { pattern, allowed } of RULES) {
  test(`what matches ${pattern.source} is used only where the list says what happens without it`, () => {
    const found = sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);
    assert.deepEqual(found.sort(), Object.keys(allowed).sort());
  });
}

test("the first line of the command is one that npm can start on Windows, too", () => {
  const [first = ""] = readFileSync(path.join(root, "cli.ts"), "utf8").split("\n");
  assert.match(first, /^#!\/usr\/bin\/env -S node(?: --[-a-z]+=\d+)*$/);
});
