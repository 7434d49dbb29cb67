"""Unsigned arithmetic in 32 and 64 bits: hashes, checksums, bit counts, Morton codes, cipher rounds."""

import zlib

import numpy as np

from collection.entry import Entry, Problem, blocks, integers


def words(random, *shape):
    return integers(random, 0, 1 << 32, *shape, dtype=np.uint32)


class Avalanche(Entry):
    name = "hash of uint32, shifts and products, 8 rounds"
    gpu, cpu, small = 1 << 25, 1 << 21, 1 << 13
    c = r"""
extern "C" __global__ void avalanche(const unsigned *x, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = x[i];
    for (int round = 0; round < 8; round++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
    }
    out[i] = h;
}"""

    def problem(n, random):
        return Problem([words(random, n), np.zeros(n, np.uint32)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        uint32 = np.uint32
        first, second = uint32(0x85EBCA6B), uint32(0xC2B2AE35)

        def avalanche(x, out):
            i = cuda.grid(1)
            if i >= out.size:
                return
            h = x[i]
            for _ in range(8):
                h ^= h >> uint32(16)
                h = uint32(h * first)
                h ^= h >> uint32(13)
                h = uint32(h * second)
                h ^= h >> uint32(16)
            out[i] = h

        return avalanche

    def reference(x, out):
        h = x.copy()
        for _ in range(8):
            for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
                h ^= h >> np.uint32(shift)
                h *= np.uint32(factor)
        return h

    def loops(numba):
        uint32 = np.uint32
        first, second = uint32(0x85EBCA6B), uint32(0xC2B2AE35)

        def avalanche(x, out):
            for i in numba.prange(out.size):
                h = x[i]
                for _ in range(8):
                    h ^= h >> uint32(16)
                    h = uint32(h * first)
                    h ^= h >> uint32(13)
                    h = uint32(h * second)
                    h ^= h >> uint32(16)
                out[i] = h

        return avalanche


class Fnv(Entry):
    name = "FNV-1a of records of 32 bytes"
    gpu, cpu, small = 1 << 22, 1 << 17, 500
    c = r"""
extern "C" __global__ void fnv(const unsigned char *bytes, unsigned *out, int length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = 2166136261u;
    for (int k = 0; k < length; k++) h = (h ^ bytes[i * length + k]) * 16777619u;
    out[i] = h;
}"""

    def problem(n, random):
        return Problem([integers(random, 0, 256, n, 32, dtype=np.uint8), np.zeros(n, np.uint32)], blocks(n), (256,),
                       (np.int32(32), np.int32(n)))

    def kernel(cuda):
        uint32 = np.uint32
        basis, prime = uint32(2166136261), uint32(16777619)

        def fnv(data, out):
            i = cuda.grid(1)
            if i < out.size:
                h = basis
                for k in range(data.shape[1]):
                    h = uint32((h ^ data[i, k]) * prime)
                out[i] = h

        return fnv

    def reference(data, out):
        h = np.full(out.size, 2166136261, np.uint32)
        for k in range(data.shape[1]):
            h = (h ^ data[:, k]) * np.uint32(16777619)
        return h


class Crc(Entry):
    name = "CRC-32 by a table in global memory"
    gpu, cpu, small = 1 << 21, 1 << 15, 500
    c = r"""
extern "C" __global__ void crc(const unsigned char *bytes, const unsigned *table, unsigned *out, int length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned c = 0xffffffffu;
    for (int k = 0; k < length; k++) c = table[(c ^ bytes[k * n + i]) & 0xff] ^ (c >> 8);
    out[i] = c ^ 0xffffffffu;
}"""

    def problem(n, random):
        table = np.arange(256, dtype=np.uint32)
        for _ in range(8):
            table = np.where(table & 1, (table >> np.uint32(1)) ^ np.uint32(0xEDB88320), table >> np.uint32(1))
        return Problem([integers(random, 0, 256, 32, n, dtype=np.uint8), table.astype(np.uint32),
                        np.zeros(n, np.uint32)], blocks(n), (256,), (np.int32(32), np.int32(n)))

    def kernel(cuda):
        uint32 = np.uint32
        ones, byte, eight = uint32(0xFFFFFFFF), uint32(0xFF), uint32(8)

        def crc(data, table, out):
            i = cuda.grid(1)
            if i < out.size:
                c = ones
                for k in range(data.shape[0]):
                    c = table[(c ^ data[k, i]) & byte] ^ (c >> eight)
                out[i] = c ^ ones

        return crc

    def reference(data, table, out):
        return np.array([zlib.crc32(column.tobytes()) for column in data.T], np.uint32)


class Hamming(Entry):
    name = "nearest of 256 keys by bits that differ, 128 bits"
    gpu, cpu, small = 1 << 19, 1 << 12, 300
    c = r"""
extern "C" __global__ void hamming(const unsigned *x, const unsigned *keys, int *out, int count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 1000, at = 0;
    for (int k = 0; k < count; k++) {
        int distance = 0;
        for (int w = 0; w < 4; w++) distance += __popc(x[i * 4 + w] ^ keys[k * 4 + w]);
        if (distance < best) best = distance, at = k;
    }
    out[i] = at;
}"""

    def problem(n, random):
        return Problem([words(random, n, 4), words(random, 256, 4), np.zeros(n, np.int32)], blocks(n), (256,),
                       (np.int32(256), np.int32(n)))

    def kernel(cuda):
        def hamming(x, keys, out):
            i = cuda.grid(1)
            if i >= out.size:
                return
            best = 1000
            at = 0
            for k in range(keys.shape[0]):
                distance = 0
                for w in range(4):
                    distance += cuda.popc(x[i, w] ^ keys[k, w])
                if distance < best:
                    best = distance
                    at = k
            out[i] = at

        return hamming

    def reference(x, keys, out):
        differing = np.unpackbits((x[:, None] ^ keys[None]).view(np.uint8), axis=2)   # NumPy 1 has no bitwise_count
        return differing.sum(2).argmin(1).astype(np.int32)


class Morton(Entry):
    name = "Morton codes of three coordinates"
    gpu, cpu, small = 1 << 24, 1 << 20, 1 << 12
    c = r"""
__device__ unsigned spread(unsigned v) {
    v = (v | (v << 16)) & 0x030000ffu;
    v = (v | (v << 8)) & 0x0300f00fu;
    v = (v | (v << 4)) & 0x030c30c3u;
    return (v | (v << 2)) & 0x09249249u;
}

extern "C" __global__ void morton(const float *x, const float *y, const float *z, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = (unsigned)(x[i] * 1023.0f), b = (unsigned)(y[i] * 1023.0f), c = (unsigned)(z[i] * 1023.0f);
    out[i] = spread(a) | (spread(b) << 1) | (spread(c) << 2);
}"""

    def problem(n, random):
        points = random.random((3, n), np.float32)
        return Problem([*points.copy(), np.zeros(n, np.uint32)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        uint32 = np.uint32
        most = np.float32(1023)

        @cuda.jit(device=True)
        def spread(v):
            v = (v | (v << uint32(16))) & uint32(0x030000FF)
            v = (v | (v << uint32(8))) & uint32(0x0300F00F)
            v = (v | (v << uint32(4))) & uint32(0x030C30C3)
            return (v | (v << uint32(2))) & uint32(0x09249249)

        def morton(x, y, z, out):
            i = cuda.grid(1)
            if i < out.size:
                a = spread(uint32(x[i] * most))
                b = spread(uint32(y[i] * most))
                c = spread(uint32(z[i] * most))
                out[i] = a | (b << uint32(1)) | (c << uint32(2))

        return morton

    def reference(x, y, z, out):
        for axis, values in enumerate((x, y, z)):
            quantized = (values * np.float32(1023)).astype(np.uint32)
            for bit in range(10):
                out |= ((quantized >> np.uint32(bit)) & np.uint32(1)) << np.uint32(3 * bit + axis)
        return out


class Cipher(Entry):
    name = "XTEA, 32 rounds on two words"
    gpu, cpu, small = 1 << 22, 1 << 16, 500
    c = r"""
extern "C" __global__ void cipher(const unsigned *text, const unsigned *key, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = text[2 * i], b = text[2 * i + 1], sum = 0;
    for (int round = 0; round < 32; round++) {
        a += (((b << 4) ^ (b >> 5)) + b) ^ (sum + key[sum & 3]);
        sum += 0x9e3779b9u;
        b += (((a << 4) ^ (a >> 5)) + a) ^ (sum + key[(sum >> 11) & 3]);
    }
    out[2 * i] = a;
    out[2 * i + 1] = b;
}"""

    def problem(n, random):
        return Problem([words(random, n, 2), words(random, 4), np.zeros((n, 2), np.uint32)], blocks(n), (256,),
                       (np.int32(n),))

    def kernel(cuda):
        uint32 = np.uint32
        delta, three, four, five, eleven = map(uint32, (0x9E3779B9, 3, 4, 5, 11))

        def cipher(text, key, out):
            i = cuda.grid(1)
            if i >= text.shape[0]:
                return
            a = text[i, 0]
            b = text[i, 1]
            total = uint32(0)
            for _ in range(32):
                a = uint32(a + ((((b << four) ^ (b >> five)) + b) ^ (total + key[total & three])))
                total = uint32(total + delta)
                b = uint32(b + ((((a << four) ^ (a >> five)) + a) ^ (total + key[(total >> eleven) & three])))
            out[i, 0] = a
            out[i, 1] = b

        return cipher

    def reference(text, key, out):
        a, b, total = text[:, 0].copy(), text[:, 1].copy(), 0
        for _ in range(32):
            a += (((b << np.uint32(4)) ^ (b >> np.uint32(5))) + b) ^ np.uint32((total + int(key[total & 3])) % 2**32)
            total = (total + 0x9E3779B9) % 2**32
            b += (((a << np.uint32(4)) ^ (a >> np.uint32(5))) + a) ^ np.uint32(
                (total + int(key[total >> 11 & 3])) % 2**32)
        return np.stack([a, b], 1)


class Wide(Entry):
    name = "xorshift* in 64 bits, 16 steps"
    gpu, cpu, small = 1 << 23, 1 << 18, 1000
    c = r"""
extern "C" __global__ void wide(const unsigned long long *seeds, unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = seeds[i], sum = 0;
    for (int step = 0; step < 16; step++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        sum += x * 2685821657736338717ull;
    }
    out[i] = sum;
}"""

    def problem(n, random):
        seeds = words(random, n).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
        return Problem([seeds, np.zeros(n, np.uint64)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        uint64 = np.uint64
        factor = uint64(2685821657736338717)

        def wide(seeds, out):
            i = cuda.grid(1)
            if i >= out.size:
                return
            x = seeds[i]
            total = uint64(0)
            for _ in range(16):
                x ^= x >> uint64(12)
                x ^= x << uint64(25)
                x ^= x >> uint64(27)
                total += x * factor
            out[i] = total

        return wide

    def reference(seeds, out):
        x = seeds.copy()
        for _ in range(16):
            x ^= x >> np.uint64(12)
            x ^= x << np.uint64(25)
            x ^= x >> np.uint64(27)
            out += x * np.uint64(2685821657736338717)
        return out
