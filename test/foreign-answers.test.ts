import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const root = path.join(import.meta.dirname, "..", "src");

/** Modules that give responses of other servers. */
const CLIENTS = /from "[^"]*\/(?:http-client|json-client|extension-client|webhook-client|review-webhook)\.ts"/;
/** Decoders without a limit on the number of values, or with one that is meant for other threads. */
const UNBOUNDED = /\b(?:JSON\.parse|parseJson|parseJsonText|decodeJson|decodeYaml)\(/;

/** Files that may use them, and why. */
const BOUNDED: Readonly<Record<string, string>> = {
  "access/admission/configuration/configuration-file.ts": "a file of the administrator",
  "access/webhooks/webhook-client.ts": "YAML, after its size has been checked",
  "serving/connect/remote-command/translate.ts": "refusals of kubelets, whose size is limited when they are read",
};

test("the server decodes responses of other servers by parseForeignJson only", () => {
  // Commands and `base/net` are not listed: commands answer no requests, and `base/net` checks sizes itself.
  const files = ["access", "cluster", "kinds", "resources", "serving", "programs/server"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  const wrong = files
    .filter((file) => file.endsWith(".ts") && !/\.(?:test|suite)\.ts$/.test(file) && !(file in BOUNDED))
    .filter((file) => {
      const text = readFileSync(path.join(root, file), "utf8");
      return CLIENTS.test(text) && UNBOUNDED.test(text);
    });
  assert.deepEqual(wrong, []);
});
