import type { Clock } from '../clock/index.js'
import type { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { BodyMemory, BodyTimer } from './incoming-body.js'
import type { LargeBodies } from './large-bodies.js'
import type { OverTls } from './over-tls.js'

/** What every exchange of one server shares. */
export interface ServerContext {
  readonly log: Log
  readonly clock: Clock
  readonly bodyTimer: BodyTimer
  readonly bodyMemory: BodyMemory
  readonly largeBodies: LargeBodies
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => string
  /** Whether the peer itself is trusted, whichever client it speaks for. */
  readonly isTrusted: (peer: string) => boolean
  readonly work: RequestWork
  readonly overTls: OverTls | undefined
  readonly onAnswer: ((answer: Answered) => void) | undefined
  readonly refuse: ((path: string) => ApiError | undefined) | undefined
  /** Set once the server takes no new work. */
  closing: boolean
  /** Aborted at the same moment, for answers without an end of their own. */
  readonly closes: AbortSignal
}

/** An answer that was sent, for metrics: all values except `seconds` come from small sets. */
export interface Answered {
  method: string
  /** The path as it was added, `/v1/emails/:id`; `unknown` for any other. */
  route: string
  status: number
  /** From the request's head until uWS had the whole answer. */
  seconds: number
}

/** Counts unfinished work: a request counts once for its handler and once for its response. */
export class RequestWork {
  #running = 0
  #idle: (() => void) | undefined

  begin(): void {
    this.#running++
  }

  end(): void {
    this.#running--
    if (this.#running === 0) this.#idle?.()
  }

  /** Calls `idle` at once if nothing runs, otherwise as soon as nothing does. */
  whenIdle(idle: () => void): void {
    this.#idle = idle
    if (this.#running === 0) idle()
  }
}
