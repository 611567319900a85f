import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { needs, requireTool } from "../support/tools.ts";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "..", "..");
const EXPLAIN = "/binnacle/auth/explain";

describe("rights as kubectl and the command line show them", { ...needs("kubectl") }, () => {
  let binnacle: RunningBinnacle;
  let doc: string;

  /** What a program prints, also when it ends with an error. */
  const output = async (program: string, args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await run(program, args, { cwd: binnacle.directory }).catch((error) => error);
    return `${stdout}${stderr}`;
  };
  const kubectl = (...args: string[]) => output(requireTool("kubectl"), ["--kubeconfig", binnacle.kubeconfig, ...args]);
  const asAlice = (...args: string[]) => {
    const server = ["--server", binnacle.base, "--insecure-skip-tls-verify", "--token", tokens.alice];
    return output(requireTool("kubectl"), ["--kubeconfig", "/dev/null", ...server, ...args]);
  };
  const explain = (args: readonly string[]) => {
    const program = ["--kubeconfig", binnacle.kubeconfig];
    return output(process.execPath, [path.join(root, "src", "cli.ts"), "auth", "explain", ...args, ...program]);
  };

  before(async () => {
    binnacle = await startBinnacle({ flags: ["--authorization-mode=RBAC"] });
    doc = await readFile(path.join(root, "docs", "authorization.md"), "utf8");
    const [, objects = ""] = /```yaml\n([^`]*)```/.exec(doc) ?? [];
    const file = path.join(binnacle.directory, "objects.yaml");
    await writeFile(file, objects);
    await kubectl("create", "namespace", "dev");
    assert.match(await kubectl("apply", "-f", file), /rolebinding.rbac.authorization.k8s.io\/readers created/);
  });
  after(() => binnacle.kill());

  test("what docs/authorization.md shows is what is printed", async () => {
    const examples = [...doc.matchAll(/```console\n\$ binnacle auth explain ([^\n]*)\n([^`]*)```/g)];
    assert.equal(examples.length, 3);
    for (const [, args = "", expected] of examples) assert.equal(await explain(args.split(" ")), expected);
  });

  test("explain prints JSON, and says when it cannot", async () => {
    const text = await explain(["--as", "alice", "list", "po", "-n", "dev", "-o", "json"]);
    const { allowed, allowedBy, nearest } = JSON.parse(text);
    assert.deepEqual([allowed, allowedBy.binding.name, allowedBy.index, nearest], [true, "readers", 1, []]);
    assert.match(await explain(["--as", "bob", "--as-group", "system:masters", "get", "nodes"]), /^bob may get nodes/);
    assert.match(await explain(["--as", "alice", "get", "/metrics"]), /missing path \/metrics/);
    assert.match(await explain(["--as", "alice", "get", "pods", "-o", "xml"]), /--output: expected json/);
  });

  test("explanations are for those who may create SubjectAccessReviews", async () => {
    const [, spec = ""] = /```json\n([^`]*)```/.exec(doc) ?? [];
    const admin = clientFor(binnacle.base, tokens.admin);
    const alice = clientFor(binnacle.base, tokens.alice);
    const question = JSON.parse(spec);
    assert.equal((await admin.call("POST", EXPLAIN, question)).body.nearest.length, 2);
    const refused = await alice.call("POST", EXPLAIN, question);
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /require the right to create subjectaccessreviews/);
    await kubectl("create", "clusterrolebinding", "delegate", "--clusterrole=system:auth-delegator", "--user=alice");
    assert.equal((await alice.call("POST", EXPLAIN, question)).status, 200);
    await kubectl("delete", "clusterrolebinding", "delegate");
    assert.equal((await admin.call("GET", EXPLAIN)).status, 405);
    for (const body of [
      undefined,
      {},
      [],
      { spec: 1 },
      { spec: {} },
      { spec: { user: 1 } },
      { spec: { groups: [1] } },
    ]) {
      assert.equal((await admin.call("POST", EXPLAIN, body)).status, 400);
    }
    assert.equal((await admin.call("POST", EXPLAIN, { spec: { user: "x".repeat(70_000) } })).status, 413);
  });

  test("kubectl auth can-i and whoami", async () => {
    assert.equal(await asAlice("auth", "can-i", "list", "pods", "-n", "dev"), "yes\n");
    assert.equal(await asAlice("auth", "can-i", "get", "pods", "-n", "dev"), "no\n");
    assert.match(await asAlice("auth", "can-i", "get", "nodes"), /^no\n/);
    const list = await asAlice("auth", "can-i", "--list", "-n", "dev");
    assert.match(list, /^configmaps +\[\] +\[\] +\[get\]$/m);
    assert.match(list, /^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$/m);
    const me = await asAlice("auth", "whoami");
    assert.match(me, /^Username +alice$/m);
    assert.match(me, /^Groups +\[dev system:authenticated\]$/m);
  });

  test("kubectl --as, --as-group and --as-uid", async () => {
    assert.equal(await kubectl("auth", "can-i", "list", "pods", "-n", "dev", "--as", "alice"), "yes\n");
    const me = await kubectl(
      "auth",
      "whoami",
      "--as",
      "bob",
      "--as-group",
      "a",
      "--as-group",
      "b,c",
      "--as-uid",
      "u-1",
    );
    for (const line of [/^Username +bob$/m, /^UID +u-1$/m, /^Groups +\[a b,c system:authenticated\]$/m])
      assert.match(me, line);
    assert.match(await kubectl("get", "pods", "-n", "dev", "--as", "bob"), /User "bob" cannot list resource "pods"/);
    assert.match(
      await asAlice("get", "pods", "-n", "dev", "--as", "bob"),
      /User "alice" cannot impersonate-on:user-info:list/,
    );
    const account = await kubectl("auth", "whoami", "--as", "system:serviceaccount:dev:bot");
    assert.match(account, /\[system:serviceaccounts system:serviceaccounts:dev system:authenticated\]/);
  });

  test("impersonation headers in any case and number never make anybody more than they are", async () => {
    const alice = clientFor(binnacle.base, tokens.alice);
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const masters = "system:masters";
    const cases: [Record<string, string | string[]>, number][] = [
      [{ "Impersonate-User": "admin" }, 403],
      [{ "IMPERSONATE-USER": "admin" }, 403],
      [{ "iMpErSoNaTe-UsEr": ["admin", "alice"] }, 403],
      [{ "impersonate-user": ["alice", "admin"] }, 403],
      [{ "impersonate-user": "alice", "Impersonate-Group": masters }, 403],
      [{ "impersonate-user": "alice", "IMPERSONATE-GROUP": ["dev", masters] }, 403],
      [{ "impersonate-group": masters }, 400],
      [{ "impersonate-uid": "1" }, 400],
      [{ "impersonate-extra-a": "1" }, 400],
      [{ "impersonate-user": "", "impersonate-group": masters }, 400],
    ];
    for (const [headers, status] of cases) {
      const answer = await alice.call("POST", path, body, headers as Record<string, string>);
      assert.equal(answer.status, status, JSON.stringify(headers));
    }
    const harmless = {
      "impersonate-user": "",
      impersonate: "admin",
      "x-impersonate-user": "admin",
      impersonate_user: "admin",
    };
    const { body: same } = await alice.call("POST", path, body, harmless);
    assert.equal(same.status.userInfo.username, "alice");
  });
});
