import type { Clock } from '../clock/index.js'
import type { Answer, Resolver } from '../dns/index.js'
import type { DnsQuestion } from './reading.js'

// RFC 7208 §4.6.4 has ten look-ups for SPF, most of two questions; a signature has one.
// All questions of one mail: the others wait meanwhile.
const usual = { most: 50, patienceMs: 10_000 }
// Anybody's keys are looked up for an aggregate report: no stranger's name server is waited for any longer than a
// mail may take to be read.
const ofAggregate = { most: 3, patienceMs: 2_000 }

/**
 * Answers what a mail that is read makes the thread ask, within bounds: a mail with too many questions,
 * or with one that takes too long, gets `failed`, as if the DNS were out of order. Never rejects.
 */
export function makeAnswering(resolver: Resolver, clock: Clock) {
  let limits = usual
  let asked = 0
  let until: number | undefined
  return {
    /** The questions of the next mail begin. */
    nextMail(isAggregate = false) {
      limits = isAggregate ? ofAggregate : usual
      asked = 0
      until = undefined
    },
    async answer(question: DnsQuestion, name: string): Promise<Answer<unknown>> {
      until ??= clock.now() + limits.patienceMs
      const leftMs = until - clock.now()
      if (++asked > limits.most || leftMs <= 0) return failed('too much is asked')
      const asking: Promise<Answer<unknown>> = resolver[question](name)
      return await new Promise((resolve) => {
        const cancel = clock.after(leftMs, () => resolve(failed('it took too long')))
        const end = (answer: Answer<unknown>) => {
          cancel()
          resolve(answer)
        }
        asking.then(end, () => end(failed('a fault of ours')))
      })
    },
  }
}

const failed = (cause: string): Answer<unknown> => ({ kind: 'failed', cause })
