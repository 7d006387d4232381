import { readFileSync } from 'node:fs'
import { packageFile } from '../config/index.js'
import { coloursSheet } from './colours.js'

/** The style of the pages of recipients. */
export const styleSheet = (): Buffer => readFileSync(packageFile('src/preferences/views/page.css'))

/** A page with its style and picture in it, for a viewer that may load nothing else. */
export function alone(html: string, logo: { contentType: string; bytes: Buffer } | undefined) {
  const picture = logo && `data:${logo.contentType};base64,${logo.bytes.toString('base64')}`
  const styled = html.replace(
    /<link rel="stylesheet" href="\/preferences.css">/,
    () => `<style>${styleSheet()}</style>`,
  )
  const coloured = styled.replace(
    /<link rel="stylesheet" href="\/colours\/([^"]*)">/,
    (_, colours) => `<style>${coloursSheet(colours) ?? ''}</style>`,
  )
  return coloured.replace(
    /(<img class="logo" src=)"[^"]*"/,
    (_, start) => `${start}"${picture ?? ''}"`,
  )
}
