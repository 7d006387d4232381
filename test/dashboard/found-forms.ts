import type { LoggedIn } from '../support/log-in.js'
import { addedRoutes } from './added-routes.js'

const routes = addedRoutes()
const patterns = routes
  .filter(({ method }) => method === 'POST')
  .map(({ path }) => ({ path, pattern: new RegExp(`^${path.replace(/:[a-z]+/gi, '[^/]+')}$`) }))

/** What stands in fields that have no value of their own. */
const usual: Record<string, string> = {
  content: 'Hello Ann',
  name: 'Readers',
  slug: 'order-paid',
  email: 'new@people.test',
  to: 'ann@shop.test',
  subject: 'Hello',
  html: '<p>Hello</p>',
  url: 'https://hooks.shop.test/',
  note: 'seen',
  from: 'news@sender.test',
  addresses: 'gone@shop.test',
  domain: 'new.test',
  reason: 'seen',
}

/** A form that is sent by POST, as a page has it. */
export interface FoundForm {
  route: string
  action: string
  fields: Record<string, string>
  /** Those that people type into. */
  typed: string[]
}

const plain = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const attribute = (tag: string, name: string) => {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return found === undefined ? undefined : plain(found)
}

// Of inputs: neither secrets nor what a browser has a form of its own for.
const typedInto = new Set(['text', 'email', 'tel', 'url', 'search'])

/** The forms of a page that are sent by POST, with what they are sent with if nobody types anything else. */
function formsOf(html: string, page: string): FoundForm[] {
  return [...html.matchAll(/<form\b[^>]*method="post"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([all, inner = '']) => {
      const action = new URL(attribute(all, 'action') ?? page, 'http://x').pathname
      const fields: Record<string, string> = {}
      const typed: string[] = []
      for (const [tag, kind] of inner.matchAll(/<(input|button|textarea|select)\b[^>]*>/g)) {
        const name = attribute(tag, 'name')
        const type = attribute(tag, 'type')
        if (name === undefined || type === 'file') continue
        if (kind === 'textarea' || (kind === 'input' && typedInto.has(type ?? 'text')))
          typed.push(name)
        if ((type === 'checkbox' || type === 'radio') && !/\schecked/.test(tag)) continue
        fields[name] ??= attribute(tag, 'value') || usual[name] || ''
      }
      for (const [, select = '', options = ''] of inner.matchAll(
        /<select\b([^>]*)>([\s\S]*?)<\/select>/g,
      )) {
        const chosen =
          /<option\b[^>]*selected[^>]*>([^<]*)/.exec(options) ??
          /<option\b[^>]*>([^<]*)/.exec(options)
        const name = attribute(select, 'name')
        if (name !== undefined && chosen)
          fields[name] = attribute(chosen[0], 'value') ?? chosen[1] ?? ''
      }
      const route = patterns.find(({ pattern }) => pattern.test(action))?.path ?? action
      return { route, action, fields, typed }
    },
  )
}

/** Walks through the pages from one on, and finds each form once, by its route and its fields. */
export async function findForms(person: LoggedIn, from: string): Promise<FoundForm[]> {
  const forms = new Map<string, FoundForm>()
  const todo = [from]
  const seen = new Set<string>()
  const shapes = new Map<string, number>()
  for (let path = todo.shift(); path !== undefined; path = todo.shift()) {
    const { status, headers, text } = await person.get(path)
    if (status !== 200 || !headers.get('content-type')?.startsWith('text/html')) continue
    for (const form of formsOf(text, path)) {
      const key = `${form.route} ${Object.keys(form.fields)}`
      if (!forms.has(key)) forms.set(key, form)
    }
    for (const [, href = ''] of text.matchAll(/<a\b[^>]*\shref="([^"#]+)/g)) {
      const { pathname, host } = new URL(plain(href), 'http://x')
      // Two of a kind show what all of it do.
      const shape = pathname.replace(/[0-9a-f-]{8,}|\d+/g, ':')
      if (host !== 'x' || seen.has(pathname) || (shapes.get(shape) ?? 0) >= 2) continue
      if (/\/(static|health|live)/.test(pathname)) continue
      seen.add(pathname)
      shapes.set(shape, (shapes.get(shape) ?? 0) + 1)
      todo.push(pathname)
    }
  }
  return [...forms.values()]
}
