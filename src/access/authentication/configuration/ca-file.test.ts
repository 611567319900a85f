import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { eventually } from "../../../../test/support/time.ts";
import { makeCa } from "../../../base/pki/make-certificate.ts";
import { drivenEnvironment } from "../../../base/util/environment.suite.ts";
import { openCAFile } from "./ca-file.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "binnacle-ca-"));
});
after(() => rm(folder, { recursive: true }));

const good = makeCa("one", Date.now()).certificate;
const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

test("rejects a client CA file without certificates", async () => {
  const file = path.join(folder, "clients.pem");
  for (const wrong of ["", "garbage", broken, good + broken]) {
    await writeFile(file, wrong);
    await assert.rejects(openCAFile(file), /clients.pem: data does not contain any valid RSA or ECDSA certifi/);
  }
  await writeFile(file, good + good);
  assert.equal((await openCAFile(file)).text, good + good);
});

test("reloads a changed file, and ignores a broken one", async (t) => {
  const file = path.join(folder, "changing.pem");
  const environment = drivenEnvironment();
  await writeFile(file, good);
  const caFile = await openCAFile(file);
  let changes = 0;
  const watched = caFile.watch(file, environment, () => changes++);
  t.after(() => watched.close());
  await writeFile(file, broken);
  const failures = () => environment.lines.filter(({ level }) => level === "error").length;
  await eventually(async () => {
    await environment.clock.advance(1000);
    return failures() === 1;
  });
  assert.deepEqual([caFile.text, changes], [good, 0]);
  const other = makeCa("two", Date.now()).certificate;
  await writeFile(file, other);
  await eventually(async () => {
    await environment.clock.advance(1000);
    return caFile.text === other;
  });
  assert.equal(changes, 1);
  assert.equal(failures(), 1, "a broken file is reported once");
});
