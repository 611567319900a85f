import { after, before, describe, test } from "node:test";
import { Victim } from "./attacks.ts";
import { costlyBodies } from "./costly-bodies.ts";

/** Reading the request and writing the response. Before, these bodies held the main thread for up to a minute. */
const MOST_MAIN_STEPS = 20_000;

describe("costly bodies", () => {
  let victim: Victim;

  before(async () => {
    victim = await Victim.start();
    const body = '{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}}';
    await victim.send({ name: "", path: "/api/v1/namespaces/default/serviceaccounts", body, code: 201 });
  });
  after(() => victim?.stop());

  for (const attack of costlyBodies)
    test(attack.name, (t) => victim.withstand({ ...attack, mostMainSteps: MOST_MAIN_STEPS }, t));
});
