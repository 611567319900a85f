import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { exchangeText, openExec, readPort, residentBytes, startSource, upgrade } from "../../bench/streams-ends.ts";
import { placePod } from "../clients/connect-steps.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { type KubeletNode, startKubeletNode } from "../support/kubelet-node.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";

const MEGABYTE = 1024 * 1024;

// `npm run bench streams` is the long form.
suite("many and long streams", () => {
  let node: KubeletNode;
  let server: RunningBinnacle;

  before(async () => {
    node = await startKubeletNode();
    server = await startBinnacle({ flags: node.flags });
    await placePod(clientFor(server.base, tokens.admin), node);
  });
  after(async () => {
    await server?.kill();
    await node?.stop();
  });

  test("64 MB by port-forward need far less memory", async () => {
    const source = await startSource(64 * MEGABYTE);
    const before = residentBytes(server.process.pid);
    const url = `${server.base}/api/v1/namespaces/default/pods/web/portforward`;
    const open = () => upgrade(url, { authorization: `Bearer ${tokens.admin}` });
    const { bytes } = await readPort(open, source.port);
    source.close();
    assert.equal(bytes, 64 * MEGABYTE);
    const more = residentBytes(server.process.pid) - before;
    assert.ok(more < 128 * MEGABYTE, `${more} bytes more`);
  });

  test("runs 20 concurrent commands, and ends them when their clients are gone", async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openExec(server.base, tokens.admin, "mirror")));
    await Promise.all(sockets.map((socket) => exchangeText(socket, "x".repeat(100_000))));
    assert.equal(node.streams(), 20);
    for (const socket of sockets) socket.terminate();
    await eventually(() => node.streams() === 0);
  });

  test("a client that does not read blocks the command, and does not fill the server's memory", async () => {
    const before = residentBytes(server.process.pid);
    const sockets = await Promise.all(Array.from({ length: 10 }, () => openExec(server.base, tokens.admin, "flood")));
    for (const socket of sockets) socket.pause();
    // Another stream continues meanwhile.
    const other = await openExec(server.base, tokens.admin, "mirror");
    await exchangeText(other, "x".repeat(100_000));
    const more = residentBytes(server.process.pid) - before;
    assert.ok(more < 128 * MEGABYTE, `${more} bytes more`);
    for (const socket of [...sockets, other]) socket.terminate();
    await eventually(() => node.streams() === 0);
  });
});
