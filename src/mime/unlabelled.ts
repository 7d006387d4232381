import { isUtf8 } from 'node:buffer'
import { alphabetCharsets, type CharPlainness } from './alphabets.js'
import { latinCharsets, latinPlainness } from './latin.js'

/** A charset, and the measure of how plain a text is in it, from 0 to 1. */
interface Candidate {
  label: string
  plainness(text: string): number
}

// A less plain text is read as Western European, in which every byte is a character.
const leastPlainness = 0.6

/**
 * Text without a named charset, as in SMTP replies (RFC 5321 §2.4 has only ASCII): UTF-8, else the charset in which it
 * is plainest. Servers write their country's charset: the same bytes are Russian in one and Chinese in another, and
 * give words in only one.
 */
export function decodeUnlabelled(bytes: Buffer): string {
  // RFC 1468: Japanese in seven bits, recognised by its escapes.
  if (bytes.includes('\x1b$')) return new TextDecoder('iso-2022-jp').decode(bytes)
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const sample = sampleOf(bytes)
  const asWestern = latinPlainness(westernText(sample))
  let best = { label: '', plainness: Math.max(leastPlainness, asWestern) }
  for (const { label, plainness } of candidates) {
    const text = decoded(sample, label)
    const found = text === undefined ? 0 : plainness(text)
    if (found > best.plainness) best = { label, plainness: found }
  }
  return best.label === '' ? westernText(bytes) : new TextDecoder(best.label).decode(bytes)
}

// A longer sample tells no more, and strangers write these texts.
const sampleBytes = 1_000

/** Begins a little before the first non-ASCII character, as the words beside it tell the language. */
function sampleOf(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte > 127)
  return bytes.subarray(Math.max(0, first - sampleBytes / 4), first + sampleBytes)
}

const westernText = (bytes: Buffer) =>
  bytes.toString('latin1').replace(/[\u0080-\u009f]/g, ofWindows)

// The characters that Windows-1252 has beyond ISO 8859-1, as far as replies use them. Node 20 decodes it
// as the latter.
const windowsChars: Readonly<Record<string, string>> = {
  '\u0080': '€',
  '\u0091': '‘',
  '\u0092': '’',
  '\u0093': '“',
  '\u0094': '”',
  '\u0096': '–',
  '\u0097': '—',
  '\u009c': 'œ',
}
const ofWindows = (char: string) => windowsChars[char] ?? char

/** Undefined if the bytes cannot be of that charset. */
function decoded(bytes: Buffer, label: string): string | undefined {
  try {
    // The last character of a sample may be cut.
    return new TextDecoder(label, { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

/** The average over all non-ASCII characters. */
function averageOf(text: string, of: CharPlainness): number {
  const chars = [...text]
  let count = 0
  let sum = 0
  for (const [at, char] of chars.entries()) {
    if (char <= '\u007f') continue
    count++
    sum += of(char, chars[at - 1] ?? ' ', chars[at + 1] ?? ' ')
  }
  return count === 0 ? 0 : sum / count
}

// The characters of such replies (nobody there, full, refused, later), and those that join them.
const simplified =
  '的一不在是了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严户邮箱址拒绝误错限超临稍重试请联系管理员容垃圾邮件服务器验证链接域名黑名单账帐号失败禁止停用冻结配额频率退信'
const traditional =
  '的一是不了在有人這個上中大為來我到出要以時和地們得可下對生也子就過能他會多發說而於自之用年行家方後作成開面事好小心前所道法如進著同經分定都然與本還其當起動已兩點從問裡主實天高去現長此三將無國全文理明日些看只公此使者加使此收件人信箱郵件使用存找到帳號址拒絕錯誤限制超暫稍重試請聯絡管理員容量垃圾伺服器驗證連線網域黑名單停失敗禁止退滿空間戶系統沒並被內外部因由於位名'
const japanese =
  '宛先存在不明送信者受信拒否接続制限容量超過満杯一時的再配信失敗無効登録利用停止見確認使用迷惑該当名前日本語電子規定大小'
const hangul =
  '가각간감같개거건검게결경계고공과관구국그기까나난날남내너네년노는능니다단달당대더데도동되된될드든들등디따때또라람래량러런력로록료류를름리린마만많말망매면명모목못무문물미바받발방버번변보복부분불비사상새서선설성세소속송수스시식신실아않안알암았앞야약양어없었에여연열영오와완외요용우운원위유으은을음응의이인일임입잘장재저적전절정제조족존주중즉지직진집차찾처체초총최추출크타태터통트특파패편포표필하한할함합항해했행허현호화확환후휴회메함계편박스도드록'

const inSet = (chars: string, kana = false) => {
  const usual = new Set(chars)
  const of = (char: string) => {
    if (usual.has(char)) return 1
    if (kana && /^[\u3041-\u3093\u30a1-\u30f6\u30fc]$/.test(char)) return 1
    // Punctuation of these scripts, then any other character of them.
    return /^[\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\u300c\u300d]$/.test(char) ? 0.8 : 0.2
  }
  return (text: string) => averageOf(text, of)
}

// RFC 6365 §3.3 knows hundreds; servers still write in these. Of two equally plain ones the first wins.
const candidates: readonly Candidate[] = [
  ...alphabetCharsets.map(({ label, plainness }) => ({
    label,
    plainness: (text: string) => averageOf(text, plainness),
  })),
  ...latinCharsets.map((label) => ({ label, plainness: latinPlainness })),
  { label: 'gb18030', plainness: inSet(simplified) },
  { label: 'big5', plainness: inSet(traditional) },
  { label: 'shift_jis', plainness: inSet(japanese, true) },
  { label: 'euc-jp', plainness: inSet(japanese, true) },
  { label: 'euc-kr', plainness: inSet(hangul) },
]
