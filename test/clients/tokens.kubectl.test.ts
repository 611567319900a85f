import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { type Kubectl, kubectlFor } from "../support/kubectl.ts";
import { tokens } from "../support/oracle.ts";
import { needs } from "../support/tools.ts";

const NAMESPACE = "tokens";
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

async function succeed(kubectl: Kubectl, line: string): Promise<string> {
  const { code, stdout, stderr } = await kubectl(line.split(" "));
  assert.equal(code, 0, `kubectl ${line}\n${stdout}${stderr}`);
  return stdout.trim();
}

describe("kubectl create token", { ...needs("kubectl") }, () => {
  let server: RunningBinnacle;
  let kubectl: Kubectl;
  const run = (line: string) => succeed(kubectl, `-n ${NAMESPACE} ${line}`);
  /** What the caller is, by a token alone; undefined when it is refused. */
  const whoIs = async (token: string): Promise<Record<string, string> | undefined> => {
    const review = { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" };
    const { status, body } = await clientFor(server.base, token).call(
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      review,
    );
    assert.ok(status === 201 || status === 401, String(status));
    return status === 201 ? body.status.userInfo : undefined;
  };

  before(async () => {
    server = await startBinnacle();
    kubectl = kubectlFor(server.kubeconfig);
    await succeed(kubectl, `create namespace ${NAMESPACE}`);
    await run("create serviceaccount bot");
    await run("create secret generic held");
    const pod = {
      metadata: { name: "worker" },
      spec: { serviceAccountName: "bot", containers: [{ name: "c", image: "i" }] },
    };
    const client = clientFor(server.base, tokens.admin);
    assert.equal((await client.call("POST", `/api/v1/namespaces/${NAMESPACE}/pods`, pod)).status, 201);
    assert.equal((await client.call("POST", "/api/v1/nodes", { metadata: { name: "machine" } })).status, 201);
  });
  after(() => server?.kill());

  test("the administrator's kubeconfig proves who he is by a certificate", async () => {
    const text = await succeed(kubectl, "auth whoami -o jsonpath={.status.userInfo}");
    const { username, groups, extra } = JSON.parse(text);
    assert.equal(username, "kubernetes-admin");
    assert.deepEqual(groups, ["system:masters", "system:authenticated"]);
    assert.match(extra["authentication.kubernetes.io/credential-id"][0], /^X509SHA256=[0-9a-f]{64}$/);
    assert.equal((await stat(server.kubeconfig)).mode & 0o777, 0o600);
    assert.equal((await stat(path.join(server.directory, "sa.key"))).mode & 0o777, 0o600);
    const output = server.process.output();
    const secrets = [await readFile(path.join(server.directory, "admin-token"), "utf8")];
    for (const secret of secrets) assert.ok(!output.includes(secret.trim()), "no credential is printed");
  });

  test("a token is the account, for an hour", async () => {
    const token = await run("create token bot");
    const { exp, iat, aud } = claimsOf(token);
    assert.deepEqual([exp - iat, aud], [3600, ["https://kubernetes.default.svc"]]);
    const user = await whoIs(token);
    assert.equal(user?.username, `system:serviceaccount:${NAMESPACE}:bot`);
  });

  test("--duration and --audience are claims, and a token for others is none for us", async () => {
    const token = await run("create token bot --duration=20m --audience=vault --audience=other");
    const { exp, iat, aud } = claimsOf(token);
    assert.deepEqual([exp - iat, aud], [1200, ["vault", "other"]]);
    assert.equal(await whoIs(token), undefined);
    const { stderr } = await kubectl(["-n", NAMESPACE, "create", "token", "bot", "--duration=5m"]);
    assert.match(stderr, /may not specify a duration less than 10 minutes/);
  });

  for (const [kind, name] of [
    ["Secret", "held"],
    ["Pod", "worker"],
    ["Node", "machine"],
  ] as const) {
    test(`a token bound to a ${kind} ends with it, at once`, async () => {
      const get = `get ${kind} ${name} -o jsonpath={.metadata.uid}`;
      const uid = kind === "Node" ? await succeed(kubectl, get) : await run(get);
      const token = await run(
        `create token bot --bound-object-kind=${kind} --bound-object-name=${name} --bound-object-uid=${uid}`,
      );
      assert.deepEqual(claimsOf(token)["kubernetes.io"][kind.toLowerCase()], { name, uid });
      assert.ok(await whoIs(token));
      await run(`delete ${kind} ${name} --grace-period=0 --force`);
      assert.equal(await whoIs(token), undefined);
    });
  }

  test("a token ends with its account, at once", async () => {
    const token = await run("create token bot");
    assert.ok(await whoIs(token));
    await run("delete serviceaccount bot");
    assert.equal(await whoIs(token), undefined);
    await run("create serviceaccount bot");
    assert.equal(await whoIs(token), undefined, "another account of the same name");
  });
});

describe("keys of service accounts are changed", { ...needs("kubectl") }, () => {
  const folders: string[] = [];
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

  test("by a second key that signs, while the first still verifies", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-keys-"));
    folders.push(folder);
    const [first, second] = ["first", "second"].map((name) => path.join(folder, `${name}.pem`)) as [string, string];
    await writeFile(first, generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(PKCS8));
    await writeFile(second, generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(SEC1));
    const store = `--store=sqlite:${path.join(folder, "store.db")}`;
    const issuedBy: string[] = [];
    const stages: { readonly flags: readonly string[]; readonly good: readonly boolean[] }[] = [
      { flags: [`--service-account-signing-key-file=${first}`], good: [true] },
      {
        flags: [
          `--service-account-signing-key-file=${second}`,
          `--service-account-key-file=${first}`,
          `--service-account-key-file=${second}`,
        ],
        good: [true, true],
      },
      { flags: [`--service-account-signing-key-file=${second}`], good: [false, true, true] },
    ];
    for (const { flags, good } of stages) {
      const server = await startBinnacle({ flags: [store, ...flags] });
      try {
        const kubectl = kubectlFor(server.kubeconfig);
        await kubectl(["create", "serviceaccount", "bot"]);
        issuedBy.push(await succeed(kubectl, "create token bot"));
        const answers = await Promise.all(
          issuedBy.map((token) => clientFor(server.base, token).call("GET", "/version")),
        );
        assert.deepEqual(
          answers.map(({ status }) => status !== 401),
          good,
        );
        const keys = JSON.parse(await succeed(kubectl, "get --raw /openid/v1/jwks")).keys as {
          kid: string;
          alg: string;
        }[];
        const header = JSON.parse(Buffer.from(issuedBy.at(-1)?.split(".")[0] ?? "", "base64url").toString());
        assert.ok(keys.some(({ kid, alg }) => kid === header.kid && alg === header.alg));
      } finally {
        await server.kill();
      }
    }
  });
});

const PKCS8 = { type: "pkcs8", format: "pem" } as const;
const SEC1 = { type: "sec1", format: "pem" } as const;
