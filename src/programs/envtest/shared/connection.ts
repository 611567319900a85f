import { connect, type Socket } from "node:net";

/** Connects to the shared process. Resolves to undefined if it is not running. */
export function connectTo(address: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path: address, allowHalfOpen: true });
    socket.once("connect", () => {
      socket.off("error", refuse);
      resolve(socket);
    });
    const refuse = (error: NodeJS.ErrnoException): void => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED") resolve(undefined);
      else reject(error);
    };
    socket.once("error", refuse);
  });
}
