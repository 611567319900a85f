import assert from "node:assert/strict";
import { it } from "node:test";
import { type Expired, Expiry } from "./expiry.ts";

it("reports what expires in order of time, and nothing after close", async () => {
  const reported: Expired[] = [];
  const expiry = new Expiry((expired) => reported.push(...expired));
  const now = Date.now();
  expiry.add("/later", 3, now + 30);
  expiry.add("/much-later", 5, now + 60_000);
  expiry.add("/sooner", 4, now + 10);
  expiry.add("/past", 2, now - 1000);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.deepEqual(
    reported.map(({ key, modRevision }) => `${key} ${modRevision}`),
    ["/past 2", "/sooner 4", "/later 3"],
  );
  expiry.add("/never", 6, Date.now() + 5);
  expiry.close();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(reported.length, 3);
});
