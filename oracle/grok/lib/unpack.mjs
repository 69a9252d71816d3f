// node unpack.mjs: the client comes packed; put it where it can be started. Its own install script is not run.
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { PROGRAM } from './client.mjs'

const packages = createRequire(import.meta.url)
const from = dirname(packages.resolve(`@xai-official/grok-${process.platform}-${process.arch}/package.json`))
const name = process.platform === 'win32' ? 'grok.exe.br' : 'grok.br'
// Under another name until it is whole: two may do this at once.
const part = `${PROGRAM}.${process.pid}`
await mkdir(dirname(PROGRAM), { recursive: true })
await pipeline(createReadStream(join(from, 'bin', name)), createBrotliDecompress(), createWriteStream(part, { mode: 0o755 }))
await rename(part, PROGRAM)
