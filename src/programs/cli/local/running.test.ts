import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createPlainServer, type RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, type TestContext, test } from "node:test";
import { makeCertificates } from "../../../base/pki/certificates.ts";
import { printKubeconfig } from "../../../data/kubeconfig/kubeconfig.ts";
import { PROCESS_PATH as SERVED_PATH } from "../../../serving/endpoints/process.ts";
import { type DataFolder, dataFolder } from "./data-folder.ts";
import { findRunning, PROCESS_PATH } from "./running.ts";

const own = makeCertificates({ bindAddress: "127.0.0.1" });
const other = makeCertificates({ bindAddress: "127.0.0.1" });

interface Setup {
  /** The process id of the record. */
  readonly pid: number;
  /** The process id that the server reports. Default: that of the record. */
  readonly reported?: number;
  readonly certificates?: typeof own;
  readonly isPlain?: boolean;
}

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A data folder that names a process and a server. */
async function folderWith(t: TestContext, setup: Setup): Promise<DataFolder> {
  const { pid, reported = pid, certificates = own, isPlain = false } = setup;
  const cwd = await mkdtemp(path.join(tmpdir(), "binnacle-folder-"));
  t.after(() => rm(cwd, { recursive: true }));
  const answer: RequestListener = (_, response) => void response.end(JSON.stringify({ pid: reported }));
  const { certificate: cert, key } = certificates.serving;
  const port = await listen(t, isPlain ? createPlainServer(answer) : createServer({ cert, key }, answer));
  const folder = dataFolder(cwd, { env: {}, cwd });
  const url = `${isPlain ? "http" : "https"}://127.0.0.1:${port}`;
  const user = { identity: own.admin };
  await writeFile(folder.kubeconfig, printKubeconfig({ server: url, authority: own.authority.certificate, user }));
  await writeFile(path.join(cwd, "instance.json"), JSON.stringify({ pid, url, port }));
  return folder;
}

suite("the process of a data folder", () => {
  test("is asked for at the path that the server has for it", () => assert.equal(PROCESS_PATH, SERVED_PATH));

  test("is found if the server reports it with a certificate of the folder's CA", async (t) => {
    assert.equal((await findRunning(await folderWith(t, { pid: process.pid })))?.pid, process.pid);
  });

  const hostile: Readonly<Record<string, Setup>> = {
    "the server reports another process": { pid: process.pid, reported: 1 },
    "the server has a certificate of another CA": { pid: process.pid, certificates: other },
    "the server has no TLS": { pid: process.pid, isPlain: true },
    "the id means a process group": { pid: -process.pid },
    "the id means every process": { pid: -1 },
    "the id means the own process group": { pid: 0 },
    "the id is that of init": { pid: 1 },
    "the id is a fraction": { pid: 1.5 },
  };
  for (const [name, setup] of Object.entries(hostile)) {
    test(`is not found if ${name}`, async (t) => {
      assert.equal(await findRunning(await folderWith(t, setup)), undefined);
    });
  }
});
