import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo, Server } from "node:net";
import { createServer as createPlainServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { createServer } from "node:tls";
import { makeCertificates } from "../../base/pki/certificates.ts";
import { printKubeconfig } from "./kubeconfig.ts";
import { chooseKubeconfigFile } from "./kubeconfig-file.ts";

const OURS = "https://127.0.0.1:1";
const options = { bindAddress: "127.0.0.1" };

suite("chooseKubeconfigFile", () => {
  const own = makeCertificates(options);
  const foreign = makeCertificates(options);
  const servers: Server[] = [];
  let folder = "";
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-kubeconfig-file-"));
  });
  after(async () => {
    for (const server of servers) server.close();
    await rm(folder, { recursive: true });
  });

  const listen = async (server: Server) => {
    servers.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const chosen = async (url: string) => {
    const text = printKubeconfig({ server: url, authority: own.authority.certificate, user: undefined });
    await writeFile(path.join(folder, "kubeconfig"), text);
    return path.basename(await chooseKubeconfigFile(folder, OURS));
  };

  test("returns kubeconfig-PORT while another server of the folder is running", async () => {
    const { certificate: cert, key } = own.serving;
    assert.equal(await chosen(await listen(createServer({ cert, key }))), "kubeconfig-1");
  });

  test("returns kubeconfig if another program has taken the port, or none listens", async () => {
    const { certificate: cert, key } = foreign.serving;
    assert.equal(await chosen(await listen(createServer({ cert, key }))), "kubeconfig");
    assert.equal(await chosen(await listen(createPlainServer((socket) => socket.end("hello")))), "kubeconfig");
    assert.equal(await chosen("https://127.0.0.1:2"), "kubeconfig");
    assert.equal(await chosen(OURS), "kubeconfig");
  });
});
