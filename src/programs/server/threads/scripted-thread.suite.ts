import { parentPort } from "node:worker_threads";
import type { FromThread, ToThread } from "../../../serving/offload/messages.ts";

/** The processor time that a scripted thread reports for each request. */
export const USED_MS = 100;

/**
 * A thread whose requests say by their path what it does: `/throw`, `/reject` and `/exit` end it, `/hang` never returns.
 * All others wait until the part `gate` of the server lets them pass.
 */
function work(): void {
  const post = (message: FromThread) => parentPort?.postMessage(message);
  let asked = 0;
  const carryOut = (path: string): void => {
    if (path === "/throw") throw new Error("thrown");
    if (path === "/reject") void Promise.reject(new Error("rejected"));
    else if (path === "/exit") process.exit(3);
    else if (path === "/hang") for (;;);
    else post({ type: "ask", id: ++asked, part: "gate", method: "pass", values: [path] });
  };
  parentPort?.on("message", (message: ToThread) => {
    if (message.type === "request") carryOut(message.request.path);
    if (message.type !== "answer") return;
    const chunks = [Buffer.from(String(message.value))];
    post({ type: "reply", reply: { status: 200, headers: {}, chunks, isStream: false, usedMs: USED_MS } });
  });
  post({ type: "ready" });
}

work();
