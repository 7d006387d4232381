/*
 * What passes between the main thread and the one that renders: plain data, because it is cloned.
 */

import type { BlockColours, BlockDocument } from '../blocks/index.js'

export type TemplatePart = 'subject' | 'html' | 'text' | 'previewText'

/** A piece of Liquid; `key` names it among the parsed pieces that are kept; with null it is not kept. */
export interface LiquidSource {
  key: string | null
  liquid: string
}

export interface RenderJob {
  /** Accounts take turns. */
  accountId: string
  subject: LiquidSource
  html: LiquidSource
  text: LiquidSource | null
  /** What inboxes show beside the subject (`previewLiquid`): rendered by itself, then put into the HTML. */
  preview?: LiquidSource | undefined
  /** The variables as JSON; null only checks the syntax. */
  variables: string | null
  /** A missing variable is a fault; otherwise (campaigns) it renders as nothing. */
  strict: boolean
}

/** A document of blocks that is to become HTML, which still has Liquid in it. */
export interface CompileJob {
  accountId: string
  document: BlockDocument
  /** The colours where the document names none. */
  brand: BlockColours
  /** The language of its words (BCP 47). */
  language: string
}

/** A job of the thread. */
export type ThreadJob = RenderJob | CompileJob

/** Why a template does not render: the sender's fault, told to the sender. */
export interface TemplateFault {
  kind: 'syntax' | 'missing_variable' | 'render' | 'limit'
  /** Null where it belongs to no single part (the time of all parts). */
  part: TemplatePart | null
  /** Without position; at most about 200 characters. */
  message: string
  /** The path that is missing, such as `user.name`. */
  variable?: string
  /** From 1; the column in UTF-16 units. */
  line?: number
  column?: number
  /** The tag has its other half elsewhere, such as `{% if %}`. */
  isOfPair?: true
}

/** The fault of a template that is given up, or not begun, because it takes too much. */
export const limitFault = (message: string): TemplateFault => ({
  kind: 'limit',
  part: null,
  message,
})

export interface Rendered {
  /** One line, at most 998 bytes. */
  subject: string
  html: string
  text: string | null
}

export type RenderOutcome =
  | { kind: 'rendered'; rendered: Rendered }
  /** The answer to a job without variables: the paths of those that its parts name, each once. */
  | { kind: 'parsed'; paths: string[] }
  | { kind: 'failed'; fault: TemplateFault }
  /** Not rendered, but not by the template's fault: the queue is full, or the renderer is closing. */
  | { kind: 'unavailable'; cause: string }

/** The outcome for a document of blocks. */
export type CompileOutcome =
  | { kind: 'compiled'; html: string }
  | Extract<RenderOutcome, { kind: 'failed' | 'unavailable' }>

export type ThreadOutcome = RenderOutcome | CompileOutcome

export type RenderOrder = { kind: 'render'; serial: number; job: ThreadJob } | { kind: 'stop' }

export type RenderReport =
  /** `cpuFile` tells what CPU time the thread has used; null where the kernel does not say. */
  | { kind: 'ready'; cpuFile: string | null }
  | { kind: 'done'; serial: number; outcome: ThreadOutcome }
