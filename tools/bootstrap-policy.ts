import { writeFile } from "node:fs/promises";
import path from "node:path";
import { isObject, type JsonObject } from "../src/base/api/object.ts";
import { clientFor } from "../test/support/client.ts";
import { startOracle, tokens } from "../test/support/oracle.ts";

/**
 * node tools/bootstrap-policy.ts
 * Writes the roles and bindings that the real kube-apiserver makes when it starts on an empty etcd: the data of
 * `cluster/controllers/apiserver/bootstrap-roles.ts`. Whatever each server makes up by itself is left out.
 */
const PLURALS = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];
const file = path.join(import.meta.dirname, "..", "src", "access", "authorization", "bootstrap-policy.json");

function withoutMadeUp(object: JsonObject): JsonObject {
  const { metadata, ...rest } = object;
  const { name, namespace, labels, annotations } = isObject(metadata) ? metadata : {};
  return { metadata: { name, ...(namespace && { namespace }), labels, annotations } as JsonObject, ...rest };
}

const oracle = await startOracle();
try {
  const client = clientFor(oracle.base, tokens.admin);
  const parts: string[] = [];
  for (const plural of PLURALS) {
    const { body } = await client.call("GET", `/apis/rbac.authorization.k8s.io/v1/${plural}`);
    const lines = (body.items as JsonObject[]).map((item) => `    ${JSON.stringify(withoutMadeUp(item))}`);
    parts.push(`  ${JSON.stringify(plural)}: [\n${lines.join(",\n")}\n  ]`);
  }
  await writeFile(file, `{\n${parts.join(",\n")}\n}\n`);
} finally {
  await oracle.kill();
}
