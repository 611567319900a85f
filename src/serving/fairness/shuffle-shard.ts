import { createHash } from "node:crypto";

/** Compat: `hashFlowID`. The number from which the queues of a flow are dealt. */
export function flowHash(schema: string, distinguisher: string): bigint {
  const digest = createHash("sha256").update(schema).update("\0").update(distinguisher).digest();
  return digest.readBigUInt64LE(0);
}

/**
 * The queues among which the requests of a flow are spread: `handSize` different ones of `queues`. Compat: the dealer of
 * k8s.io/apiserver/pkg/util/shufflesharding. Two flows rarely get the same ones, so a busy flow leaves others a free queue.
 */
export function dealQueues(hash: bigint, queues: number, handSize: number): readonly number[] {
  const drawn: number[] = [];
  let left = hash;
  for (let dealt = 0; dealt < handSize; dealt++) {
    const deck = BigInt(queues - dealt);
    drawn.push(Number(left % deck));
    left /= deck;
  }
  return drawn.map((first, index) => {
    let card = first;
    // A drawn number counts the cards that are left; each smaller card that was dealt before moves it on by one.
    for (let before = index; before > 0; before--) if (card >= (drawn[before - 1] as number)) card++;
    return card;
  });
}
