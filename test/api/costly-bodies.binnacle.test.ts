import { after, before, describe, test } from "node:test";
import { Victim } from "./attacks.ts";
import { costlyBodies } from "./costly-bodies.ts";

describe("costly bodies", { timeout: 300_000 }, () => {
  let victim: Victim;

  before(async () => {
    victim = await Victim.start();
    const body = '{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}}';
    await victim.send({ name: "", path: "/api/v1/namespaces/default/serviceaccounts", body, code: 201 });
  });
  after(() => victim?.stop());

  for (const attack of costlyBodies) test(attack.name, (t) => victim.withstand(attack, t));
});
