import fc from "fast-check";

/** Every run tries the same inputs, so a change cannot fail because of inputs that no other run tries. Nightly runs pass another seed. */
fc.configureGlobal({ seed: Number(process.env.BINNACLE_SEED ?? 20_261_116) });

export { fc };
