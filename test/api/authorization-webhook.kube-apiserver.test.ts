import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { configuredAuthorizers } from "../../src/access/authorization/configuration/configured-authorizers.ts";
import type { JsonObject } from "../../src/base/api/object.ts";
import { makeCa, makeCertificate, person } from "../../src/base/pki/certificates.suite.ts";
import { drivenEnvironment } from "../../src/base/util/environment.suite.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs, requireTool } from "../support/tools.ts";

const authority = makeCa("webhooks");
const serving = makeCertificate({ issuer: authority, subject: person("localhost") });

/** A webhook on loopback: records requests by caller, and responds with the result of `answer`. */
class Webhook {
  readonly asked: Record<string, string[]> = {};
  answer: (review: JsonObject) => { status?: number; body: unknown } = () => ({ body: {} });
  #server: Server | undefined;

  async start(): Promise<void> {
    const server = createServer({ cert: serving.pem, key: serving.keyPem }, (request, response) => {
      request.toArray().then((chunks) => {
        const text = Buffer.concat(chunks).toString();
        const by = (request.url ?? "").slice(1).split("?")[0] ?? "";
        this.asked[by] = [...(this.asked[by] ?? []), text];
        const { status = 200, body } = this.answer(JSON.parse(text));
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
    });
    this.#server = server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }

  get port(): number {
    const address = this.#server?.address() as AddressInfo | undefined;
    return address?.port ?? 0;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}

const kubeconfig = (port: number, name: string) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster: { server: `https://127.0.0.1:${port}/${name}`, "insecure-skip-tls-verify": true } }],
  users: [{ name: "u", user: {} }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
});

/** Requests as alice, who only has the permissions that the webhook grants. */
const QUESTIONS: readonly string[] = [
  "GET /api/v1/namespaces/default/pods/a",
  "GET /api/v1/pods?labelSelector=a%3Db%2Cc%2C!d%2Ce%20in%20(y%2Cx)%2Cf%21%3Dg&fieldSelector=spec.nodeName%3Dx%2Cmetadata.name!%3Dy",
  "GET /api/v1/pods?labelSelector=a%3E1",
  "GET /apis/apps/v1/namespaces/x/deployments/y/scale",
  "GET /healthz/x",
  "GET /api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dz",
  "DELETE /api/v1/namespaces/default/configmaps",
  "GET /api/v1/watch/pods",
  "GET /api/v1/nodes/%3Cx%3E",
];

for (const version of ["v1", "v1beta1"]) {
  suite(`the webhook authorizer behaves like kube-apiserver's, ${version}`, {
    ...needs("kube-apiserver", "etcd"),
  }, () => {
    const webhook = new Webhook();
    let servers: readonly [Oracle, RunningBinnacle];
    let clients: readonly Client[];
    let folder: string;

    before(async () => {
      folder = await mkdtemp(path.join(tmpdir(), "binnacle-webhook-"));
      await webhook.start();
      const flags = async (name: string) => {
        const file = path.join(folder, name);
        await writeFile(file, JSON.stringify(kubeconfig(webhook.port, name)));
        return [
          `--authorization-webhook-config-file=${file}`,
          `--authorization-webhook-version=${version}`,
          "--authorization-webhook-cache-unauthorized-ttl=0s",
        ];
      };
      servers = await Promise.all([
        startOracle({ flags: ["--authorization-mode=Webhook", ...(await flags("theirs"))] }),
        startBinnacle({ flags: ["--authorization-mode=RBAC,Webhook", ...(await flags("ours"))] }),
      ]);
      clients = servers.map(({ base }) => clientFor(base, tokens.alice));
    });
    after(async () => {
      await Promise.all((servers ?? []).map((server) => server.kill()));
      await webhook.stop();
      await rm(folder, { recursive: true, force: true });
    });

    const ask = async (question: string, headers: Record<string, string> = {}) => {
      for (const by of Object.keys(webhook.asked)) webhook.asked[by] = [];
      const [method = "", at = ""] = question.split(" ");
      const answers = await Promise.all(clients.map((client) => client.call(method, at, undefined, headers)));
      const [theirs, ours] = ["theirs", "ours"].map((by) => webhook.asked[by] ?? []);
      return { answers: answers.map(shown), theirs, ours };
    };
    const review = (status: JsonObject) => ({
      body: { apiVersion: `authorization.k8s.io/${version}`, kind: "SubjectAccessReview", status },
    });

    for (const question of QUESTIONS) {
      test(`the same review is sent for ${question}`, async () => {
        webhook.answer = () => review({ allowed: false, reason: "not today" });
        const { answers, theirs, ours } = await ask(question);
        assert.ok(theirs && theirs.length > 0, "kube-apiserver asks");
        assert.deepEqual(ours?.map(plain), theirs.map(plain));
        assert.deepEqual(answers[1], answers[0]);
      });
    }

    const decisions: readonly (readonly [title: string, answer: () => { status?: number; body: unknown }])[] = [
      ["denied", () => review({ allowed: false, denied: true, reason: "never" })],
      ["no opinion", () => review({ allowed: false })],
      ["both", () => review({ allowed: true, denied: true, reason: "confused" })],
      ["allowed", () => review({ allowed: true, reason: "sure" })],
    ];
    for (const [title, answer] of decisions) {
      test(`${title} gets the same response`, async () => {
        webhook.answer = answer;
        const { answers } = await ask(`GET /api/v1/namespaces/default/configmaps/${title.replace(" ", "-")}`);
        assert.deepEqual(answers[1], answers[0]);
      });
    }

    test("caches allowed requests", async () => {
      webhook.answer = () => review({ allowed: true });
      const question = "GET /api/v1/namespaces/default/configmaps/kept";
      await ask(question);
      const { theirs, ours } = await ask(question);
      assert.deepEqual([theirs, ours], [[], []]);
    });

    test("an invalid response of the webhook is a 500, or a 403 of earlier authorizers", async () => {
      webhook.answer = () => ({ status: 400, body: {} });
      const { answers } = await ask("GET /api/v1/namespaces/default/configmaps/x");
      assert.deepEqual(
        answers.map(({ status }) => status),
        [500, 500],
      );
    });

    test("access reviews call it too, and report incomplete rules", async () => {
      webhook.answer = () => review({ allowed: true });
      const admins = servers.map(({ base }) => clientFor(base, tokens.admin));
      const at = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      const body = {
        spec: {
          user: "bob",
          groups: ["b", "a"],
          extra: { "x/y": ["2", "1"], b: [] },
          uid: "u",
          nonResourceAttributes: { path: "/x", verb: "get" },
        },
      };
      for (const by of Object.keys(webhook.asked)) webhook.asked[by] = [];
      const answers = await Promise.all(admins.map((client) => client.call("POST", at, body)));
      assert.deepEqual(answers[1]?.body.status, answers[0]?.body.status);
      assert.deepEqual(webhook.asked.ours?.map(plain), webhook.asked.theirs?.map(plain));
      const rules = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
      const [theirs, ours] = await Promise.all(
        clients.map((client) => client.call("POST", rules, { spec: { namespace: "default" } })),
      );
      assert.equal(ours?.body.status.incomplete, true);
      assert.equal(ours?.body.status.evaluationError, theirs?.body.status.evaluationError);
    });
  });
}

const shown = ({ status, body }: Answer) => ({ status, message: body.message ?? body });
/** JSON with its fields in order. */
const plain = (text: string) => JSON.stringify(JSON.parse(text));

const HEAD = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthorizationConfiguration" };
const webhookOf = (change: JsonObject = {}, name = "w"): JsonObject => ({
  type: "Webhook",
  name,
  webhook: {
    timeout: "3s",
    subjectAccessReviewVersion: "v1",
    failurePolicy: "Deny",
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/none" },
    ...change,
  },
});
const rbac = { type: "RBAC", name: "rbac" };

/** Configurations that both servers reject. */
const REFUSED: Readonly<Record<string, unknown>> = {
  "no authorizers": HEAD,
  "no type": { ...HEAD, authorizers: [{ name: "x" }] },
  "an unknown type": { ...HEAD, authorizers: [{ type: "Rbac", name: "x" }] },
  "a type twice": { ...HEAD, authorizers: [rbac, rbac] },
  "no name": { ...HEAD, authorizers: [{ type: "RBAC" }, webhookOf({}, "")] },
  "a name twice": { ...HEAD, authorizers: [webhookOf({}, "a"), webhookOf({}, "a")] },
  "a name of another mode": {
    ...HEAD,
    authorizers: [
      { type: "RBAC", name: "node" },
      { type: "Node", name: "x" },
    ],
  },
  "a bad name": { ...HEAD, authorizers: [{ type: "RBAC", name: "A_b" }] },
  "a webhook of RBAC": { ...HEAD, authorizers: [{ ...rbac, webhook: webhookOf().webhook }] },
  "no webhook": { ...HEAD, authorizers: [{ type: "Webhook", name: "w" }] },
  "a webhook without anything": { ...HEAD, authorizers: [{ type: "Webhook", name: "w", webhook: {} }] },
  "a kubeconfig that is not there": { ...HEAD, authorizers: [webhookOf()] },
  "a long timeout": { ...HEAD, authorizers: [webhookOf({ timeout: "1m30.5s" })] },
  "a negative time": {
    ...HEAD,
    authorizers: [webhookOf({ timeout: "-1s", authorizedTTL: "-90m", unauthorizedTTL: "-1ms" })],
  },
  versions: {
    ...HEAD,
    authorizers: [webhookOf({ subjectAccessReviewVersion: "v2", matchConditionSubjectAccessReviewVersion: "v1beta1" })],
  },
  "a failure policy": { ...HEAD, authorizers: [webhookOf({ failurePolicy: "Allow" })] },
  connections: {
    ...HEAD,
    authorizers: [webhookOf({ connectionInfo: { type: "InClusterConfig", kubeConfigFile: "/x" } })],
  },
  "an unknown connection": { ...HEAD, authorizers: [webhookOf({ connectionInfo: { type: "X" } })] },
  "a relative path": {
    ...HEAD,
    authorizers: [webhookOf({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "x" } })],
  },
  "a folder": {
    ...HEAD,
    authorizers: [webhookOf({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/tmp" } })],
  },
  "conditions without a version": { ...HEAD, authorizers: [webhookOf({ matchConditions: [{ expression: " " }] })] },
  "many conditions": {
    ...HEAD,
    authorizers: [
      webhookOf({
        matchConditionSubjectAccessReviewVersion: "v1",
        matchConditions: Array.from({ length: 65 }, () => ({ expression: "true" })),
      }),
    ],
  },
  "wrong conditions": {
    ...HEAD,
    authorizers: [
      webhookOf({
        matchConditionSubjectAccessReviewVersion: "v1",
        matchConditions: [
          "request.user",
          "request.nobody == 1",
          "request.resourceAttributes.verb == 1",
          "object.x",
          "has(request",
          "true",
          "true",
        ].map((expression) => ({ expression })),
      }),
    ],
  },
  "an unknown field": { ...HEAD, authorizers: [{ ...rbac, more: 1 }], less: 2 },
  "another kind": { ...HEAD, kind: "AuthenticationConfigurations" },
  "another version": { ...HEAD, apiVersion: "apiserver.config.k8s.io/v2" },
  "no kind": { authorizers: [rbac] },
  "a broken duration": { ...HEAD, authorizers: [webhookOf({ timeout: "x" })] },
  nothing: "",
};

suite("configurations that are refused", { ...needs("kube-apiserver") }, () => {
  let folder: string;
  let key: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-authz-"));
    key = path.join(folder, "key.pem");
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    await writeFile(key, privateKey.export({ type: "sec1", format: "pem" }));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const refusal = (args: readonly string[]) => {
    const { stderr, stdout } = spawnSync(requireTool("kube-apiserver"), args, { encoding: "utf8" });
    const output = `${stdout}${stderr}`.trim();
    // A text of several lines is between brackets, each line after a tab.
    const lines = /err=<\n(.*)\n >$/s.exec(output)?.[1];
    return lines?.replace(/^\t/gm, "") ?? output.split("\n").at(-1) ?? "";
  };

  for (const [title, content] of Object.entries(REFUSED)) {
    test(title, async () => {
      const file = path.join(folder, `${title}.json`);
      await writeFile(file, content === "" ? "" : JSON.stringify(content));
      const theirs = refusal([
        "--etcd-servers=http://127.0.0.1:1",
        "--service-account-issuer=https://x",
        `--service-account-key-file=${key}`,
        `--service-account-signing-key-file=${key}`,
        "--service-cluster-ip-range=10.96.0.0/16",
        `--cert-dir=${folder}`,
        `--authorization-config=${file}`,
      ]);
      const { clock, log } = drivenEnvironment();
      const ours = await configuredAuthorizers({ modes: [], configFile: file }, { clock, log }).then(
        () => "taken",
        (error: Error) => error.message,
      );
      assert.equal(ours, textOf(theirs));
    });
  }
});

/** kube-apiserver's message when it does not start, without its prefix. */
function textOf(line: string): string {
  return line
    .replace(/^E\d+ .*?\] /, "")
    .replace(/^"command failed" err="(.*)"$/, (_, text: string) => JSON.parse(`"${text}"`))
    .replace(/(?<=in scheme \\?")pkg[^"\\]+/g, "pkg/runtime/scheme.go:111");
}

/** Match conditions of one webhook each, in order; each webhook gets the requests that match. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  resources: ["has(request.resourceAttributes)", "request.resourceAttributes.resource == 'configmaps'"],
  paths: ["!has(request.resourceAttributes)", "request.nonResourceAttributes.path.startsWith('/healthz')"],
  users: ["request.user == 'alice' && request.uid == '' && request.extra.size() == 0", "'nobody' in request.groups"],
  selectors: [
    "request.resourceAttributes.?labelSelector.requirements.orValue([]).exists(r, r.key == 'a' && r.operator == 'In')",
    "request.resourceAttributes.fieldSelector.requirements.all(r, r.values.size() == 1)",
  ],
  empty: ["request.resourceAttributes.subresource == '' && request.resourceAttributes.group == ''"],
};

suite("match conditions behave like kube-apiserver's", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  const webhook = new Webhook();
  let servers: readonly [Oracle, RunningBinnacle];
  let folder: string;

  const flags = async (by: string): Promise<string[]> => {
    const config = path.join(folder, `${by}.kubeconfig`);
    await writeFile(config, JSON.stringify(kubeconfig(webhook.port, by)));
    const webhooks = Object.entries(CONDITIONS).map(([name, expressions], index) =>
      webhookOf(
        {
          connectionInfo: { type: "KubeConfigFile", kubeConfigFile: config },
          unauthorizedTTL: "1ms",
          failurePolicy: index % 2 === 0 ? "NoOpinion" : "Deny",
          matchConditionSubjectAccessReviewVersion: "v1",
          matchConditions: expressions.map((expression) => ({ expression })),
        },
        name,
      ),
    );
    const file = path.join(folder, `${by}.json`);
    await writeFile(file, JSON.stringify({ ...HEAD, authorizers: [rbac, ...webhooks] }));
    return [`--authorization-config=${file}`];
  };

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-conditions-"));
    webhook.answer = () => ({
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", status: { allowed: false } },
    });
    await webhook.start();
    servers = await Promise.all([
      startOracle({ flags: await flags("theirs") }),
      startBinnacle({ flags: await flags("ours") }),
    ]);
  });
  after(async () => {
    await Promise.all((servers ?? []).map((server) => server.kill()));
    await webhook.stop();
    await rm(folder, { recursive: true, force: true });
  });

  for (const question of [...QUESTIONS, "GET /api/v1/namespaces/default/configmaps/x"]) {
    test(question, async () => {
      const [method = "", at = ""] = question.split(" ");
      for (const by of ["theirs", "ours"]) webhook.asked[by] = [];
      const answers = await Promise.all(servers.map(({ base }) => clientFor(base, tokens.alice).call(method, at)));
      const [theirs, ours] = answers.map(shown);
      assert.deepEqual(ours, theirs);
      assert.deepEqual(webhook.asked.ours?.map(plain), webhook.asked.theirs?.map(plain));
    });
  }
});

suite("--authorization-config", () => {
  const webhooks = [new Webhook(), new Webhook()];
  let binnacle: RunningBinnacle;
  let folder: string;
  let file: string;
  const write = async (authorizers: readonly unknown[]) => writeFile(file, JSON.stringify({ ...HEAD, authorizers }));
  const configured = async (index: number, change: JsonObject = {}) => {
    const config = path.join(folder, `webhook-${index}`);
    await writeFile(config, JSON.stringify(kubeconfig(webhooks[index]?.port ?? 0, "w")));
    return webhookOf(
      { connectionInfo: { type: "KubeConfigFile", kubeConfigFile: config }, unauthorizedTTL: "1ms", ...change },
      `w${index}`,
    );
  };
  const status = (allowed: boolean, denied = false) => ({
    body: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", status: { allowed, denied } },
  });

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-authz-"));
    file = path.join(folder, "config.json");
    await Promise.all(webhooks.map((webhook) => webhook.start()));
    await write([rbac, await configured(0), await configured(1)]);
    binnacle = await startBinnacle({ flags: [`--authorization-config=${file}`] });
  });
  after(async () => {
    await binnacle?.kill();
    await Promise.all(webhooks.map((webhook) => webhook.stop()));
    await rm(folder, { recursive: true, force: true });
  });
  const alice = async (name: string) =>
    (await clientFor(binnacle.base, tokens.alice).call("GET", `/api/v1/namespaces/default/configmaps/${name}`)).status;

  test("calls several webhooks in order, and reloads a changed file", async () => {
    const [first, second] = webhooks as [Webhook, Webhook];
    first.answer = () => status(false);
    second.answer = () => status(true);
    assert.equal(await alice("a"), 404);
    first.answer = () => status(false, true);
    assert.equal(await alice("b"), 403);
    await write([rbac, await configured(1)]);
    await eventually(async () => (await alice("c")) === 404);
    // An invalid file changes nothing, and neither does one without RBAC.
    await writeFile(file, "{");
    await write([await configured(0)]);
    await eventually(() => binnacle.process.output().includes("missing required types: [RBAC]"));
    assert.equal(await alice("d"), 404);
  });

  test("a webhook that is down denies, or defers to the next, according to failurePolicy", async () => {
    const [first, second] = webhooks as [Webhook, Webhook];
    first.answer = () => ({ status: 403, body: {} });
    second.answer = () => status(true);
    await write([rbac, await configured(0, { failurePolicy: "Deny" }), await configured(1)]);
    await eventually(async () => (await alice(`e${Math.random()}`)) === 500);
    await write([rbac, await configured(0, { failurePolicy: "NoOpinion" }), await configured(1)]);
    await eventually(async () => (await alice(`f${Math.random()}`)) === 404);
  });
});
