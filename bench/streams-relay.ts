import { readFileSync } from "node:fs";
import { startRelay } from "./streams-ends.ts";

/** node bench/streams-relay.ts PORT FOLDER: a bare TLS relay to a node, in a process of its own. Prints its port. */
const [port = "0", folder = "."] = process.argv.slice(2);
const read = (name: string) => readFileSync(`${folder}/${name}`, "utf8");
const identity = { cert: read("client.crt"), key: read("client.key") };
const listening = await startRelay(identity, { port: Number(port), ...identity });
process.stdout.write(`listening ${listening}\n`);
