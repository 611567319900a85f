import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type EtcdCluster, startEtcd } from "../support/etcd.ts";
import { type Kubectl, kubectlFor, startKubectl } from "../support/kubectl.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const GROUP = "stable.example.com";
const TABS = `/apis/${GROUP}/v1/namespaces/default/crontabs`;
const tab = (name: string, spec: object = { schedule: "* * * * *" }) => ({
  apiVersion: `${GROUP}/v1`,
  kind: "CronTab",
  metadata: { name },
  spec,
});

suite("kubectl and objects without a definition", { ...needs("kubectl") }, () => {
  let server: RunningBinnacle;
  let kubectl: Kubectl;
  let client: Client;

  before(async () => {
    server = await startBinnacle();
    kubectl = kubectlFor(server.kubeconfig);
    client = clientFor(server.base, tokens.admin);
    assert.equal((await client.call("POST", TABS, tab("first"))).status, 201);
  });
  after(() => server.kill());

  async function run(args: string, input?: string): Promise<string> {
    const { code, stdout, stderr } = await kubectl(args.split(" "), { input });
    assert.equal(code, 0, stderr);
    return stdout;
  }

  test("get, by the names that discovery tells", async () => {
    assert.match(await run("get crontabs"), /^NAME +AGE\nfirst +/);
    assert.match(await run("get crontab first -o jsonpath={.spec.schedule}"), /^\* \* \* \* \*$/);
    assert.match(await run(`api-resources --api-group=${GROUP}`), /crontabs +stable.example.com\/v1 +true +CronTab/);
  });

  test("apply, on both sides", async () => {
    assert.match(await run("apply -f -", JSON.stringify(tab("applied"))), /applied created/);
    assert.match(await run("apply -f -", JSON.stringify(tab("applied", { image: "x" }))), /applied configured/);
    assert.equal(await run("get crontab applied -o jsonpath={.spec}"), '{"image":"x"}');
    assert.match(await run("apply --server-side -f -", JSON.stringify(tab("served"))), /served serverside-applied/);
  });

  test("edit", async () => {
    const editor = path.join(server.directory, "editor.sh");
    await writeFile(editor, '#!/bin/sh\nsed -i "s/\\* \\* \\* \\* \\*/5 4 * * */" "$1"\n');
    await chmod(editor, 0o700);
    const before = process.env.KUBE_EDITOR;
    process.env.KUBE_EDITOR = editor;
    try {
      assert.match(await run("edit crontab first"), /first edited/);
    } finally {
      if (before === undefined) delete process.env.KUBE_EDITOR;
      else process.env.KUBE_EDITOR = before;
    }
    assert.equal(await run("get crontab first -o jsonpath={.spec.schedule}"), "5 4 * * *");
  });

  test("get -w", async () => {
    const watching = await startKubectl(server.kubeconfig, ["get", "crontabs", "-w", "-o", "name"]);
    try {
      await eventually(() => /crontab.stable.example.com\/first/.test(watching.output()));
      await run("apply -f -", JSON.stringify(tab("late")));
      await eventually(() => /crontab.stable.example.com\/late/.test(watching.output()));
    } finally {
      await watching.kill();
    }
  });

  test("scale, label and delete", async () => {
    await run("scale crontab first --replicas=3");
    assert.equal(await run("get crontab first -o jsonpath={.spec.replicas}"), "3");
    await run("label crontab first colour=red");
    assert.match(await run("delete crontab -l colour=red"), /"first" deleted/);
    assert.equal((await client.call("GET", `${TABS}/first`)).status, 404);
  });

  test("whoever may not, may not: RBAC speaks of them as of any resource", async () => {
    const asAlice = clientFor(server.base, tokens.alice);
    assert.equal((await asAlice.call("GET", TABS)).status, 403);
    await run(`create role tabs --verb=list --resource=crontabs.${GROUP}`);
    await run("create rolebinding tabs --role=tabs --user=alice");
    await eventually(async () => (await asAlice.call("GET", TABS)).status === 200);
    assert.equal((await asAlice.call("POST", TABS, tab("no"))).status, 403);
  });
});

suite("objects without a definition, on several servers", { ...needs("etcd") }, () => {
  let etcd: EtcdCluster;
  const servers: RunningBinnacle[] = [];
  const start = async (): Promise<Client> => {
    const server = await startBinnacle({ etcdEndpoint: etcd.endpoints[0] });
    servers.push(server);
    return clientFor(server.base, tokens.admin);
  };

  before(async () => {
    etcd = await startEtcd();
  });
  after(async () => {
    for (const server of servers) await server.kill();
    await etcd.stop();
  });

  test("every server knows them at once, and so does one that starts later", async () => {
    const [one, other] = [await start(), await start()];
    assert.equal((await other.call("GET", TABS)).body.kind, "List");
    assert.equal((await one.call("POST", TABS, tab("a"))).status, 201);
    assert.equal((await other.call("GET", `${TABS}/a`)).body.kind, "CronTab");
    assert.equal((await other.call("GET", TABS)).body.kind, "CronTabList");
    const later = await start();
    assert.equal((await later.call("GET", `/apis/${GROUP}/v1`)).body.resources[0].name, "crontabs");
    assert.equal((await later.call("GET", TABS)).body.items.length, 1);
  });

  test("a definition takes them over, and when it goes, they and all that is known of them go", async () => {
    const client = clientFor(servers[0]?.base ?? "", tokens.admin);
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const names = { plural: "crontabs", singular: "crontab", kind: "CronTab", listKind: "CronTabList" };
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const metadata = { name: `crontabs.${GROUP}` };
    const spec = { group: GROUP, scope: "Namespaced", names, versions };
    const made = await client.call("POST", definitions, { metadata, spec });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    // Without /status and /scale: that is how it is known to be the definition's.
    const parts = async () => (await client.call("GET", `/apis/${GROUP}/v1`)).body.resources?.length;
    await eventually(async () => (await parts()) === 1);
    assert.equal((await client.call("GET", `${TABS}/a`)).body.spec.schedule, "* * * * *");
    assert.equal((await client.call("GET", `/apis/${GROUP}/v1/others`)).status, 404);
    await client.call("DELETE", `${definitions}/${metadata.name}`);
    await eventually(async () => (await client.call("GET", `/apis/${GROUP}/v1`)).status === 404);
    assert.equal((await client.call("GET", TABS)).body.kind, "List");
  });
});
