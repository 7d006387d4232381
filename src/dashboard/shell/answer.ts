import type { Faults } from './faults.js'

/** What the audit log keeps of a POST that succeeded, or of a list that was exported. */
export interface AuditedAction {
  /** What was done, such as `key.create`. */
  action: string
  /** What it was done to: an id, a name or an address. */
  target?: string
  /** The account that it was done to, where an operator's page did it. */
  accountId?: string
  detail?: Record<string, unknown>
}

interface Common {
  headers?: Record<string, string | string[]>
  /**
   * What a POST has done; without it the log names the action and the path. For a GET it names the list that is
   * exported; an export has a row of the log too, and only a few run at once. `noted`: the action itself has written
   * the row.
   */
  audit?: AuditedAction | 'noted'
}

/** How a page is shown, apart from its content. */
export interface PageLook {
  title: string
  /** Default 200. */
  status?: number
  /** Shown above the page, with the focus on them; the shell itself adds those of `again`. */
  faults?: Faults
  /** The page has an editor: its script is loaded, and may style what it makes. */
  editor?: true
  /** The page has cards of steps: their script is loaded. */
  steps?: true
  /** The page has the width of the window. */
  wide?: true
}

/** Pieces are sent as they come, so that a file of a million rows needs no room. */
export type FileBody = string | Buffer | AsyncIterable<string | Buffer>

/** The answer of a page's handler, made by `page`, `redirect`, `frame`, `file` or `nothing`. */
export type PageAnswer = Common &
  (
    | { kind: 'page'; template: string; view: object; look: PageLook }
    | { kind: 'redirect'; to: string; flash: string | undefined; keepsForm?: true }
    | { kind: 'frame'; html: string; remotePictures: boolean; ownPictures: string | undefined }
    | { kind: 'file'; body: FileBody; contentType: string; saveAs: string | undefined }
    | { kind: 'nothing' }
  )

/** A page of `src/dashboard/<template>.ejs`; the layout, the navigation and the last POST's message come around it. */
export function page<V extends object>(
  template: string,
  view: V,
  { headers = {}, audit, ...look }: PageLook & Common,
): PageAnswer {
  return { kind: 'page', template, view, look, headers, ...(audit && { audit }) }
}

/**
 * 303 to a path of this appliance; `flash` is shown there once. `keepsForm`: 307, so that the browser sends the same
 * form there (RFC 9110 §15.4.8).
 */
export function redirect(
  to: string,
  options: { flash?: string; keepsForm?: true } & Common = {},
): PageAnswer {
  return { kind: 'redirect', to, flash: undefined, ...options }
}

/**
 * HTML that somebody else wrote, for an `<iframe sandbox>`. It runs nothing, has no origin, and loads only pictures:
 * those from elsewhere if the reader has asked for them, and with `publicUrl` our own, which are served there.
 */
export function frame(
  html: string,
  {
    remotePictures = false,
    publicUrl,
  }: { remotePictures?: boolean; publicUrl?: string | undefined } = {},
): PageAnswer {
  const ownPictures = publicUrl === undefined ? undefined : `${publicUrl}/pictures/`
  return { kind: 'frame', html, remotePictures, ownPictures }
}

/** Sends bytes as they are; with `saveAs` the browser saves them under that name. */
export function file(
  body: FileBody,
  contentType: string,
  options: { saveAs?: string } & Common = {},
): PageAnswer {
  return { kind: 'file', body, contentType, saveAs: undefined, ...options }
}

/** 204: there is nothing to show, and nothing is wrong. */
export const nothing = (): PageAnswer => ({ kind: 'nothing' })
