import { languageCodes, languageFor } from '../accounts/index.js'
import { compiledView, type Page, type PageRequest } from '../http/index.js'
import { stringsIn } from './languages.js'
import { shownToken } from './link.js'

/** Why they left, which they may say. */
export interface ReasonView {
  legend: string
  choices: readonly { value: string; label: string }[]
  words: string
  button: string
}

/** A page of a heading, a few sentences, at most one button and one link. */
export interface NoticeView {
  language: string
  title: string
  /** Where the account's picture is. */
  logo?: string | undefined
  /** Where its colours are; undefined: they are those of everybody. */
  colours?: string | undefined
  lines: readonly string[]
  /** Posts `action` to the page's own address. */
  form?: { action: 'unsubscribe' | 'resubscribe'; button: string; quiet: boolean } | undefined
  link?: { href: string; text: string } | undefined
  reason?: ReasonView | undefined
  /** What came of the last button. */
  message?: string | undefined
}

/** The preference centre. */
export interface CentreView {
  language: string
  title: string
  /** Where the picture is. */
  logo: string | undefined
  /** Where the colours are. */
  colours: string | undefined
  /** What came of the last button. */
  message: string | undefined
  lines: readonly string[]
  left: boolean
  topics: readonly { id: string; name: string; description: string; chosen: boolean }[]
  legend: string
  save: string
  /** The other parts of the list of topics, where it is longer than a page. */
  parts: { line: string; links: readonly { href: string; text: string; rel: string }[] } | undefined
  reason: ReasonView | undefined
  /** What they may change of what is known of them; undefined: nothing. */
  fields:
    | {
        title: string
        line: string
        none: string
        save: string
        rows: readonly {
          name: string
          wasName: string
          label: string
          type: 'text' | 'date' | 'choice' | 'number'
          value: string
          was: string
          choices: readonly string[]
          autocomplete: string | undefined
          fault: string | undefined
        }[]
      }
    | undefined
  everything: { action: 'leave' | 'return'; title: string; line: string; button: string }
}

/** Where the picture at the head of an account's pages is. */
export const logoOf = ({ logoId }: { logoId: string | null }): string | undefined =>
  logoId === null ? undefined : `/logo/${logoId}`

/** Whole pages. */
export const renderNotice = compiledView<NoticeView>('preferences/views/notice')
export const renderCentre = compiledView<CentreView>('preferences/views/centre')

/** A page that no search engine lists: its address names a recipient. */
export const page = (html: string, status = 200): Page => ({
  status,
  html,
  headers: { 'X-Robots-Tag': 'noindex' },
})

/**
 * For every link that does not act, in the language of the browser: the same whatever is wrong with it, but for those
 * that are only shown.
 */
export function deadLink({
  params: { token },
  header,
}: Pick<PageRequest, 'params' | 'header'>): Page {
  const browser = header('accept-language')
  const strings = stringsIn(languageFor({ browser, account: null, offered: languageCodes }))
  const says = token === shownToken ? strings.shown : strings.unknown
  return page(renderNotice({ language: strings.language, ...says }), 404)
}
