import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test } from "node:test";
import { bootstrapPolicy } from "../../access/authorization/bootstrap-policy.ts";
import { RUNNABLE_CONTROLLERS } from "../../cluster/controllers/manager/all.ts";
import type { PolicyRule } from "../../kinds/types/rbac.ts";
import { startControlPlane } from "./control-plane.ts";
import { runWorkloads } from "./workloads.suite.ts";

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly apiGroup?: string; readonly resource: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

const ROLES = [...bootstrapPolicy.clusterroles, ...bootstrapPolicy.roles];
const ACCOUNT = "system:serviceaccount:kube-system:";
/** Controllers read from the store and not by requests. */
const READS: readonly string[] = ["get", "list", "watch"];

/** The requests of all controllers during a broad scenario, from the audit log. */
async function auditedRequests(): Promise<AuditEvent[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "permissions-"));
  try {
    const [policyFile, log] = [path.join(folder, "policy.json"), path.join(folder, "audit.log")];
    const rules = [{ level: "Metadata", userGroups: ["system:serviceaccounts:kube-system"] }];
    const omitStages = ["RequestReceived"];
    writeFileSync(policyFile, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules, omitStages }));
    await using plane = await startControlPlane({
      controllers: "*",
      seed: 1,
      clock: { at: "2026-01-01T00:00:30Z" },
      config: { audit: { policyFile, log: { path: log } } },
    });
    await runWorkloads(plane);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as AuditEvent);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const right = (verb: string, group: string, resource: string) => `${verb} ${resource}${group && `.${group}`}`;

function usedRight({
  verb,
  objectRef: { apiGroup = "", resource = "", subresource = "" } = { resource: "" },
}: AuditEvent) {
  return right(verb, apiGroup, subresource === "" ? resource : `${resource}/${subresource}`);
}

/** The permissions of a controller's bootstrap role to write. Some have a Role in kube-system instead of a ClusterRole. */
function writeRights(account: string): string[] {
  const own = ROLES.filter(({ metadata }) => metadata.name === `system:controller:${account}`);
  assert.ok(own.length > 0, account);
  const rules = own.flatMap((role) => (role.rules ?? []) as readonly PolicyRule[]);
  return rules.flatMap(({ verbs = [], apiGroups = [], resources = [] }) =>
    verbs
      .filter((verb) => !READS.includes(verb))
      .flatMap((verb) => apiGroups.flatMap((group) => resources.map((one) => right(verb, group, one)))),
  );
}

suite("permissions of controllers", () => {
  test("their bootstrap roles allow all of their requests", async (t) => {
    const events = await auditedRequests();
    const denied = events.filter(({ responseStatus: { code } = {} }) => code === 401 || code === 403);
    assert.deepEqual(
      denied.map(({ responseStatus }) => responseStatus?.message),
      [],
    );
    const usedBy = (account: string) =>
      new Set(events.filter(({ user }) => user.username === `${ACCOUNT}${account}`).map(usedRight));
    assert.ok(usedBy("deployment-controller").has("create replicasets.apps"), "the audit log has their requests");
    for (const { name, account } of RUNNABLE_CONTROLLERS) {
      // A few act as the user of kube-controller-manager, which is no service account.
      if (account === undefined) continue;
      const used = usedBy(account);
      const unused = writeRights(account).filter((one) => !used.has(one));
      const text = (rights: Iterable<string>) => [...rights].sort().join(", ") || "nothing";
      t.diagnostic(`${name} uses ${text(used)}; does not use ${text(unused)}`);
    }
  });
});
