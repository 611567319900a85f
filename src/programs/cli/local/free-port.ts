import { createServer } from "node:net";

/** Returns the port, or 0 if it is in use. */
export function portOrAny(port: number, host: string): Promise<number> {
  if (port === 0) return Promise.resolve(0);
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(0));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(port)));
  });
}
