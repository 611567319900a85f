import { parentPort } from "node:worker_threads";
import { Database, refusalReason } from "./database.ts";
import { packRows, type ReplyMessage, type RequestMessage, type Requests, unpackRows } from "./messages.ts";

let database: Database | undefined;

function requireDatabase(): Database {
  if (database === undefined) throw new Error("the database is not open");
  return database;
}

function answer(message: RequestMessage): Requests[keyof Requests]["reply"] {
  switch (message.type) {
    case "open":
      database = new Database(message.body.path);
      return { compacted: database.compactedRevision() };
    case "read":
      return packRows(requireDatabase().read(message.body.after));
    case "commit":
      requireDatabase().commit(unpackRows(message.body));
      return undefined;
    case "compact":
      requireDatabase().compact(message.body.revision);
      return undefined;
    case "trim":
      requireDatabase().trim(message.body.revisions);
      return undefined;
    case "close":
      database?.close();
      database = undefined;
      return undefined;
  }
}

parentPort?.on("message", (message: RequestMessage) => {
  let reply: ReplyMessage;
  try {
    reply = { id: message.id, body: answer(message) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    reply = { id: message.id, error: { message: text, reason: refusalReason(error) } };
  }
  const transfer =
    "body" in reply && reply.body !== undefined && "values" in reply.body ? [reply.body.values.buffer] : [];
  parentPort?.postMessage(reply, transfer);
});
