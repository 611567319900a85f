import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { canMount, withMounts } from "../support/mounts.ts";
import { tokens } from "../support/oracle.ts";

/** Where the DNS server answers: `resolv.conf` can name no other port than 53. */
const RESOLVER = "127.0.0.77";
const ALLOWED = "127.0.0.2";
const FORBIDDEN = "127.0.0.1";
const NODE = "/api/v1/nodes/rebind";
const TYPE_A = 1;

/** Answers a DNS question with these addresses, and with none if it is not about IPv4. */
function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const end = question.indexOf(0, 12) + 5;
  const given = question.readUInt16BE(end - 4) === TYPE_A ? addresses : [];
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(0x8580, 2);
  head.writeUInt16BE(given.length, 6);
  head.fill(0, 8, 12);
  const records = given.map((address) =>
    // A pointer to the name, type A, class IN, a lifetime of 0, and four bytes.
    Buffer.from([0xc0, 0x0c, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
  );
  return Buffer.concat([head, question.subarray(12, end), ...records]);
}

/** A DNS server that gives the next of its answers to every question about an IPv4 address. */
async function startResolver(answers: () => readonly string[]): Promise<Socket | undefined> {
  const socket = createSocket("udp4");
  socket.on("message", (question, { port, address }) => {
    const isIPv4 = question.readUInt16BE(question.indexOf(0, 12) + 1) === TYPE_A;
    socket.send(answerTo(question, isIPv4 ? answers() : []), port, address);
  });
  return new Promise((resolve) => {
    socket.once("error", () => resolve(undefined));
    // The process need not wait for it where the tests are skipped.
    socket.unref().bind(53, RESOLVER, () => resolve(socket));
  });
}

const serve = (text: string, address: string, port = 0): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server: Server = createServer((_request, response) => response.end(text));
    server.once("error", reject).listen(port, address, () => resolve(server));
  });

let answers: readonly (readonly string[])[] = [];
let asked = 0;
const resolver = await startResolver(() => answers[asked++ % answers.length] ?? []);
const reason = resolver === undefined ? "port 53 is not ours to open" : !canMount() && "there are no mount namespaces";

suite("a name that a DNS server answers differently each time", { skip: reason, timeout: 120_000 }, () => {
  let folder: string;
  let server: RunningBinnacle;
  let client: Client;
  let programs: Server[];
  let port: number;

  before(async () => {
    const allowed = await serve("allowed", ALLOWED);
    port = (allowed.address() as AddressInfo).port;
    programs = [allowed, await serve("secret", FORBIDDEN, port)];
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-resolver-"));
    const file = path.join(folder, "resolv.conf");
    await writeFile(file, `nameserver ${RESOLVER}\noptions timeout:5 attempts:2\n`);
    const launcher = withMounts(`mount --bind ${file} "$(readlink -f /etc/resolv.conf)"`);
    server = await startBinnacle({ launcher, flags: [`--allow-proxy-to=${ALLOWED}/32`] });
    client = clientFor(server.base, tokens.admin);
    await client.call("POST", "/api/v1/nodes", { metadata: { name: "rebind" } });
    const addresses = [{ type: "Hostname", address: "rebind.example.test" }];
    const merge = { "content-type": "application/merge-patch+json" };
    const patched = await client.call("PATCH", `${NODE}/status`, { status: { addresses } }, merge);
    assert.equal(patched.status, 200, JSON.stringify(patched.body));
  });
  after(async () => {
    await server?.kill();
    for (const program of programs ?? []) program.close().closeAllConnections();
    await rm(folder, { recursive: true, force: true });
  });
  after(() => resolver?.close());

  const ask = async () => {
    const { status, body } = await client.call("GET", `${NODE}:${port}/proxy/`);
    return [status, typeof body === "string" ? body : body.message];
  };

  test("is connected with at the address that was judged", async () => {
    asked = 0;
    answers = [[ALLOWED], [FORBIDDEN]];
    const seen = new Set<string>();
    for (let times = 0; times < 20; times++) seen.add((await ask()).join(" "));
    assert.deepEqual([...seen].sort(), ["200 allowed", "400 address not allowed"]);
    assert.equal(asked, 20, "every request asks once");
  });

  test("is refused if one of its addresses is not allowed", async () => {
    answers = [
      [ALLOWED, FORBIDDEN],
      [FORBIDDEN, ALLOWED],
      [ALLOWED, "169.254.169.254"],
    ];
    for (let times = 0; times < 6; times++) assert.deepEqual(await ask(), [400, "address not allowed"]);
  });
});
