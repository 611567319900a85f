import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** Distinct loopback TCP ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  // All are held open until all are known, or the system may return the same one twice.
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(
    servers.map(async (server) => {
      server.close();
      await once(server, "close");
    }),
  );
  return ports;
}

/** One loopback TCP port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error("the system gave no port");
  return port;
}
