import { readFileSync } from 'node:fs'
import t from 'tap'
import { thoroughly } from '../support/thorough.js'

/*
 * Seeded fuzzing: seeds (valid inputs, kept in the tree) are broken at random, and each is looked at
 * with what must hold of its result. `bin/check` runs a few seconds of it, the same for everybody:
 *
 *   POSTHORN_FUZZ_ROUNDS=20000 POSTHORN_FUZZ_SEED=7 node dist/test/fuzz/mime.test.js
 *
 * A failure names its seed and its number, which give the same input again. Write both into known-bad.json: they are
 * then tried in every run, first. What is found may also become one of the corpus, or a test of its own.
 */
export type Random = (below: number) => number

// A long run is ended by who began it.
t.setTimeout(process.env.POSTHORN_FUZZ_ROUNDS === undefined ? 300_000 : 86_400_000)

const baseSeed = Number(process.env.POSTHORN_FUZZ_SEED ?? 1)

/** How many rounds a target takes: its own number in --thorough, an eighth in every check, or what the environment says. */
export const roundsOf = (whole: number) =>
  Number(process.env.POSTHORN_FUZZ_ROUNDS ?? thoroughly(Math.ceil(whole / 8), whole))

/** Numbers from 0 to `below`, the same for the same round of the same seed (mulberry32). */
export function randomOf(round: number, seed = baseSeed): Random {
  let state = Math.imul(seed, 0x9e3779b1) + round
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

export interface Corpus {
  /** Latin-1: a character a byte. */
  seeds: readonly string[]
  /** What is put in somewhere: the words of the format, and what hurts. */
  tokens: readonly string[]
  /** Up to this length a piece of the input may be repeated; default 64 KiB. */
  maxBytes?: number
}

export const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T

/** A seed with some of it replaced, left out, doubled, moved, or repeated very often. */
export function mutant({ seeds, tokens, maxBytes = 65_536 }: Corpus, random: Random): string {
  let text = pick(random, seeds)
  for (let change = random(5); change > 0; change--) {
    const at = random(text.length + 1)
    const to = Math.min(text.length, at + random(20))
    const lineStart = text.indexOf('\n', at) + 1
    const token = pick(random, tokens)
    switch (random(8)) {
      case 0:
        text = text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1)
        break
      case 1:
        text = text.slice(0, at) + text.slice(to)
        break
      case 2:
        text = text.slice(0, at) + token + text.slice(at)
        break
      case 3:
        text = text.slice(0, lineStart) + token + text.slice(lineStart)
        break
      case 4:
        text = text.slice(0, to) + text.slice(at)
        break
      case 5: {
        const other = pick(random, seeds)
        text = text.slice(0, at) + other.slice(random(other.length + 1))
        break
      }
      case 6:
        text = text.slice(0, at) + token + text.slice(to)
        break
      default: {
        // Seldom: what takes more than a line's time for each byte shows here.
        if (random(8) > 0) break
        const piece = random(2) === 0 ? token : text.slice(at, to)
        const times = Math.floor(random(maxBytes) / Math.max(1, piece.length))
        text = text.slice(0, at) + piece.repeat(times) + text.slice(at)
      }
    }
  }
  return text
}

// CPU time of this process, and not of others on a busy machine; no input of 64 KiB is worth more.
const maxCpuMs = 3_000
const maxComplaints = 3

/**
 * Runs `look` on so many mutants; it returns what is wrong, if anything. What it throws is wrong too,
 * and so is taking more CPU time than any input may.
 */
export function fuzz(
  name: string,
  rounds: number,
  corpus: Corpus,
  look: (input: string, random: Random) => Promise<string | undefined> | string | undefined,
): void {
  const total = roundsOf(rounds)
  t.test(`${name}: ${total} mutants`, async (t) => {
    let complaints = 0
    for (const { seed, round } of [...knownBad(name), ...roundsUpTo(total)]) {
      if (complaints >= maxComplaints) break
      const random = randomOf(round, seed)
      const input = mutant(corpus, random)
      const before = process.cpuUsage()
      const wrong = await Promise.resolve()
        .then(() => look(input, random))
        .catch((error: unknown) => (error instanceof Error ? `${error.stack}` : String(error)))
      const { user, system } = process.cpuUsage(before)
      const cpuMs = (user + system) / 1_000
      const complaint = wrong ?? (cpuMs > maxCpuMs ? `it took ${cpuMs} ms of CPU` : undefined)
      if (complaint === undefined) continue
      complaints++
      t.fail(`round ${round} of POSTHORN_FUZZ_SEED=${seed}: ${complaint}`, {
        input: input.length > 3_000 ? `${input.slice(0, 3_000)}… (${input.length} bytes)` : input,
      })
    }
    if (complaints === 0) t.pass('all as it must be')
  })
}

/** What was found by other seeds or in longer runs, as `{ "target": [{ "seed": 7, "round": 12345 }] }`. */
function knownBad(target: string): Round[] {
  const file = new URL('../../../test/fuzz/known-bad.json', import.meta.url)
  const all: Record<string, Round[]> = JSON.parse(readFileSync(file, 'utf8'))
  return all[target] ?? []
}

function* roundsUpTo(total: number): Generator<Round> {
  for (let round = 0; round < total; round++) yield { seed: baseSeed, round }
}

interface Round {
  seed: number
  round: number
}

export const bytesOf = (input: string) => Buffer.from(input, 'latin1')

/** In pieces of some bytes, as they come over a network. */
export function* piecesOf(bytes: Buffer, random: Random, most = 40): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random(most)
    yield bytes.subarray(at, end)
    at = end
  }
}
