import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { KubectlTwins } from "./kubectl-twins.ts";

const run = promisify(execFile);
const encode = (text: string) => Buffer.from(text).toString("base64");

suite("kubectl proves who somebody is, and asks for certificates, as with kube-apiserver", {
  ...needs("kubectl", "kube-apiserver", "etcd", "openssl"),
}, () => {
  let twins: KubectlTwins;
  let folder: string;
  const authority = makeCa("clients", Date.now());
  const file = (name: string) => path.join(folder, name);
  const openssl = (line: string) => run("openssl", line.split(" "), { cwd: folder });
  const identity = (commonName: string, ...organizations: string[]) =>
    makeIdentity(authority, { commonName, organizations }, "client", Date.now());

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-credentials-"));
    await writeFile(file("ca.crt"), authority.certificate);
    await writeFile(file("ca.key"), authority.key, { mode: 0o600 });
    await writeFile(file("client.ext"), "extendedKeyUsage=clientAuth\n");
    twins = await KubectlTwins.start([`--client-ca-file=${file("ca.crt")}`]);
  });
  after(async () => {
    await twins?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Writes a program that prints an ExecCredential, and tells kubectl to run it. */
  const plugin = async (name: string, status: Readonly<Record<string, string>>) => {
    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status };
    const program = file(`${name}.sh`);
    await writeFile(program, `#!/bin/sh\ncat <<'END'\n${JSON.stringify(credential)}\nEND\n`, { mode: 0o700 });
    const { apiVersion } = credential;
    return { exec: { apiVersion, command: program, interactiveMode: "Never" } };
  };

  const whoIs = async (name: string, user: Readonly<Record<string, unknown>>, expected: RegExp) => {
    const { stdout } = await (await twins.as(name, user)).same(["auth", "whoami"]);
    assert.match(stdout, expected, name);
  };

  test("kubeconfigs with a certificate, files, a token file and a plugin", async () => {
    const { certificate, key } = identity("dora", "dev", "ops");
    const dora = /^Username +dora$/m;
    const data = { "client-certificate-data": encode(certificate), "client-key-data": encode(key) };
    await whoIs("certificate", data, dora);
    await whoIs("certificate", data, /^Groups +\[dev ops system:authenticated\]$/m);
    await writeFile(file("dora.crt"), certificate);
    await writeFile(file("dora.key"), key, { mode: 0o600 });
    await whoIs("files", { "client-certificate": file("dora.crt"), "client-key": file("dora.key") }, dora);
    await writeFile(file("token"), tokens.alice);
    await whoIs("token-file", { tokenFile: file("token") }, /^Username +alice$/m);
    await whoIs("token-plugin", await plugin("token", { token: tokens.alice }), /^Username +alice$/m);
    const byCertificate = await plugin("certificate", { clientCertificateData: certificate, clientKeyData: key });
    await whoIs("certificate-plugin", byCertificate, dora);
    // The certificate counts first.
    await whoIs("both", { ...data, token: tokens.alice }, dora);
  });

  test("credentials that are none", async () => {
    const stranger = makeIdentity(makeCa("strangers", Date.now()), { commonName: "admin" }, "client", Date.now());
    const users = {
      nothing: {},
      "wrong-token": { token: "nonsense" },
      "wrong-plugin": await plugin("wrong", { token: "nonsense" }),
      stranger: { "client-certificate-data": encode(stranger.certificate), "client-key-data": encode(stranger.key) },
      basic: { username: "admin", password: tokens.admin },
    };
    for (const [name, user] of Object.entries(users)) {
      const { code } = await (await twins.as(name, user)).same(["get", "pods"]);
      assert.equal(code, 1, name);
    }
  });

  /** Makes a key and asks for its certificate. */
  const ask = async (name: string, subject: string, by: KubectlTwins = twins) => {
    await openssl(`req -new -newkey rsa:2048 -nodes -keyout ${name}.key -subj ${subject} -out ${name}.csr`);
    const request = {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name },
      spec: {
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth", "digital signature"],
        request: encode(await readFile(file(`${name}.csr`), "utf8")),
      },
    };
    const text = JSON.stringify(request);
    return by.same(["create", "-f", "-"], [text, text]);
  };
  const same = (line: string) => twins.same(line.split(" "));

  test("a certificate is asked for, approved, signed, and then proves who somebody is", async () => {
    assert.equal((await ask("erin", "/O=dev/CN=erin")).code, 0);
    await same("get csr erin");
    await same("certificate approve erin");
    await same("get csr erin");
    await same("describe csr erin");
    await same("certificate approve erin");
    await same("certificate deny erin");
    // What the controller manager does as the signer.
    await openssl(
      "x509 -req -in erin.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 1 -extfile client.ext -out erin.crt",
    );
    const certificate = encode(await readFile(file("erin.crt"), "utf8"));
    const patch = JSON.stringify({ status: { certificate } });
    const sign = ["patch", "csr", "erin", "--subresource=status", "--type=merge", "-p", patch];
    await twins.same([...sign, "--as=bob"]);
    assert.equal((await twins.same(sign)).code, 0);
    await same("get csr erin");
    const [theirs, ours] = await twins.outputs(["get", "csr", "erin", "-o", "jsonpath={.status.certificate}"]);
    assert.deepEqual([theirs, ours], [certificate, certificate]);
    const user = { "client-certificate": file("erin.crt"), "client-key": file("erin.key") };
    await whoIs("erin", user, /^Username +erin$/m);
    const erin = await twins.as("erin", user);
    await erin.same(["get", "pods"]);
    await same("create role reader --verb=list --resource=pods -n default");
    await same("create rolebinding readers --role=reader --group=dev -n default");
    const isAllowed = async () => {
      const outputs = await erin.outputs(["auth", "can-i", "list", "pods", "-n", "default"]);
      return outputs.every((output) => output === "yes\n");
    };
    await eventually(isAllowed);
    assert.equal((await erin.same(["get", "pods", "-n", "default"])).code, 0);
  });

  test("a certificate is denied", async () => {
    assert.equal((await ask("frank", "/CN=frank")).code, 0);
    await same("certificate deny frank");
    await same("get csr frank");
    await same("certificate approve frank");
    await same("certificate approve nobody");
  });

  test("nobody asks for, approves or signs more than he may", async () => {
    const alice = await twins.as("alice", { token: tokens.alice });
    assert.equal((await ask("masters", "/O=system:masters/CN=x")).code, 1);
    assert.equal((await ask("mine", "/CN=mine", alice)).code, 1);
    assert.equal((await ask("grace", "/CN=grace")).code, 0);
    await same(
      "create clusterrole approver --verb=get,list,update,patch --resource=certificatesigningrequests,certificatesigningrequests/approval",
    );
    await same("create clusterrolebinding approver --clusterrole=approver --user=alice");
    const isApprover = ["auth", "can-i", "update", "certificatesigningrequests/approval"];
    await eventually(async () => (await alice.outputs(isApprover)).every((output) => output === "yes\n"));
    const refused = await alice.same(["certificate", "approve", "grace"]);
    assert.match(refused.stderr, /user not permitted to approve requests with signerName/);
    const signer = JSON.stringify({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "signer" },
      rules: [
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["signers"],
          resourceNames: ["kubernetes.io/kube-apiserver-client"],
          verbs: ["approve"],
        },
      ],
    });
    await twins.same(["create", "-f", "-"], [signer, signer]);
    await same("create clusterrolebinding signer --clusterrole=signer --user=alice");
    const approve = ["certificate", "approve", "grace"];
    await eventually(async () => (await alice.outputs(approve)).every((output) => output.includes("approved")));
    assert.equal((await alice.same(["certificate", "approve", "grace"])).code, 0);
  });
});
