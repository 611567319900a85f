import { after, before, describe, test } from "node:test";
import { type Attack, CONFIG_MAPS, Victim } from "./attacks.ts";

const many = (count: number, item: (index: number) => string, separator = ",") =>
  Array.from({ length: count }, (_, index) => item(index)).join(separator);
const listed = (query: string, code: number, says?: RegExp): Omit<Attack, "name"> => ({
  method: "GET",
  path: `${CONFIG_MAPS}?${query}`,
  code,
  says,
});
const sent = (headers: Record<string, string>, code: number, says?: RegExp): Omit<Attack, "name"> => ({
  method: "GET",
  headers,
  code,
  says,
});
const at = (path: string, code: number, says?: RegExp): Omit<Attack, "name"> => ({ method: "GET", path, code, says });
const KEY = "x".repeat(60_000);

/** Attacks with everything but a body. Request line and headers have 64 KB together. */
const attacks: Readonly<Record<string, Omit<Attack, "name">>> = {
  "request line beyond 64 KB": listed(`labelSelector=${"x".repeat(70_000)}`, 431),
  "header beyond 64 KB": sent({ "x-long": "x".repeat(70_000) }, 431),
  "unused header of 60 KB": sent({ "x-long": KEY }, 200),
  "500 headers": sent(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-${i}`, "x"])), 200),
  "token of 60 KB": sent({ authorization: `Bearer ${KEY}` }, 401),
  "2,500 accepted types": sent({ accept: many(2_500, () => "text/html;q=0.1") }, 406),
  "accepted type with 12,000 parameters": sent({ accept: `application/json${";a=b".repeat(12_000)}` }, 200),
  "12,000 encodings": sent({ "accept-encoding": many(12_000, () => "gzip") }, 200),
  "user agent of 60 KB": { body: '{"metadata":{"name":"agent"}}', headers: { "user-agent": KEY }, code: 201 },
  "content type with 12,000 parameters": {
    body: '{"metadata":{"name":"type"}}',
    type: `application/json${";a=b".repeat(12_000)}`,
    code: 201,
  },
  "field manager of 50 KB": {
    path: `${CONFIG_MAPS}?fieldManager=${"x".repeat(50_000)}`,
    body: '{"metadata":{"name":"manager"}}',
    code: 422,
  },

  "path with a name of 60 KB": at(`${CONFIG_MAPS}/${KEY}`, 404),
  "path with a namespace of 60 KB": at(`/api/v1/namespaces/${KEY}/configmaps`, 200),
  "path with a group of 60 KB": at(`/apis/${KEY}/v1/things`, 404),
  "path of 30,000 segments": at(`${CONFIG_MAPS}/${"x/".repeat(30_000)}`, 404),
  "path of 60,000 slashes": at("/".repeat(60_000), 404),
  "path of 20,000 escapes": at(`${CONFIG_MAPS}/${"%41".repeat(20_000)}`, 404),
  "path of broken escapes": at(`${CONFIG_MAPS}/${"%4".repeat(20_000)}`, 400),
  "path that goes up 20,000 times": at(`${CONFIG_MAPS}/${"../".repeat(20_000)}`, 404),

  "15,000 parameters": listed("a=b&".repeat(15_000), 200),
  "15,000 times the same selector": listed("labelSelector=a&".repeat(4_000), 200),
  "parameter of broken escapes": listed(`labelSelector=${"%".repeat(50_000)}`, 200),
  "limit of 50,000 digits": listed(`limit=${"9".repeat(50_000)}`, 400),
  "resource version of 50,000 digits": listed(`resourceVersion=${"9".repeat(50_000)}`, 400),
  "watch for 50,000 digits of seconds": listed(`watch=1&timeoutSeconds=${"9".repeat(50_000)}`, 400),
  "continue token of 50 KB": listed(`limit=1&continue=${"A".repeat(50_000)}`, 400),
  "continue token that nests": listed(
    `limit=1&continue=${Buffer.from("[".repeat(40_000)).toString("base64url")}`,
    400,
    /continue key is not valid/,
  ),

  "label selector of 15,000 requirements": listed(`labelSelector=${many(15_000, () => "a")}`, 200),
  "label selector with 10,000 values": listed(`labelSelector=a%20in(${many(10_000, (i) => `v${i}`)})`, 200),
  "label selector with 10,000 wrong values": listed(`labelSelector=a%20in(${many(10_000, (i) => `-${i}`)})`, 400),
  "label selector of 30,000 commas": listed(`labelSelector=a%20in(${",".repeat(30_000)})`, 200),
  "label selector of 20,000 exclamation marks": listed(`labelSelector=${"!".repeat(20_000)}`, 400),
  "label selector with a key of 60 KB": listed(`labelSelector=${KEY}`, 400),
  "label selector that compares 50,000 digits": listed(`labelSelector=a%3E${"9".repeat(50_000)}`, 400),
  "field selector of 3,000 requirements": listed(`fieldSelector=${many(3_000, () => "metadata.name=a")}`, 200),
  "field selector of 50,000 commas": listed(`fieldSelector=${",".repeat(50_000)}`, 200),
  "field selector of 50,000 escapes": listed(`fieldSelector=metadata.name=${"\\".repeat(25_000)}`, 200),
  "field selector with a field of 60 KB": listed(`fieldSelector=${KEY}=a`, 400),
};

describe("hostile requests", () => {
  let victim: Victim;

  before(async () => {
    victim = await Victim.start();
    await victim.send({ name: "", body: '{"metadata":{"name":"one","labels":{"a":"7"}}}', code: 201 });
  });
  after(() => victim?.stop());

  for (const [name, attack] of Object.entries(attacks)) test(name, (t) => victim.withstand({ name, ...attack }, t));
});
