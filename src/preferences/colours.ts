import { type BrandColours, plainColours } from '../accounts/index.js'

const names = ['background', 'text', 'button', 'buttonText'] as const

/**
 * Where the style sheet of some colours is. The address itself names the colours, as no page has a style of its own.
 * Undefined for the default colours.
 */
export function coloursPath(colours: BrandColours): string | undefined {
  if (names.every((name) => colours[name] === plainColours[name])) return undefined
  return `/colours/${names.map((name) => colours[name].slice(1).toLowerCase()).join('-')}`
}

/** The style sheet for an address of `coloursPath`; undefined for any other text. */
export function coloursSheet(given: string): string | undefined {
  if (!/^[0-9a-f]{6}(-[0-9a-f]{6}){3}$/.test(given)) return undefined
  const [background, text, button, buttonText] = given.split('-').map((one) => `#${one}`)
  return `:root{color-scheme:light;--text:${text};--page:${background};--card:${background};--line:${text}40;--accent:${button};--on-accent:${buttonText}}`
}
