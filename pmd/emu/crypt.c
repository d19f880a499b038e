/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include <openssl/evp.h>

#include "nic.h"

enum { ICV = 16 }; /* octets; no profile has another */

/*
 * AES-GCM as RFC 4106 has it, by OpenSSL: another implementation than that of the
 * engines which the emulated device stands beside. A context of each thread, given
 * the key anew for every packet: slow, and without anything to go stale.
 */
static EVP_CIPHER_CTX *
context(void)
{
	static __thread EVP_CIPHER_CTX *ctx;

	if (ctx == NULL)
		ctx = EVP_CIPHER_CTX_new();
	return ctx;
}

static const EVP_CIPHER *
cipher(const struct emu_sa *sa)
{
	switch (sa->key_len) {
	case 24:
		return EVP_aes_192_gcm();
	case 32:
		return EVP_aes_256_gcm();
	default:
		return EVP_aes_128_gcm();
	}
}

static void
make_nonce(const struct emu_sa *sa, const uint8_t iv[8], uint8_t nonce[12])
{
	memcpy(nonce, sa->salt, 4);
	memcpy(nonce + 4, iv, 8);
}

int
emu_seal(const struct emu_sa *sa, const uint8_t iv[8], const uint8_t *aad, int aad_len,
	uint8_t *text, int len, uint8_t *icv)
{
	EVP_CIPHER_CTX *ctx = context();
	uint8_t nonce[12];
	int n;

	make_nonce(sa, iv, nonce);
	if (ctx == NULL || EVP_EncryptInit_ex(ctx, cipher(sa), NULL, sa->key, nonce) != 1 ||
		EVP_EncryptUpdate(ctx, NULL, &n, aad, aad_len) != 1 ||
		EVP_EncryptUpdate(ctx, text, &n, text, len) != 1 ||
		EVP_EncryptFinal_ex(ctx, text + n, &n) != 1 ||
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, ICV, icv) != 1)
		return -1;
	return 0;
}

int
emu_open(const struct emu_sa *sa, const uint8_t iv[8], const uint8_t *aad, int aad_len,
	uint8_t *text, int len, const uint8_t *icv)
{
	EVP_CIPHER_CTX *ctx = context();
	uint8_t nonce[12], last[16];
	int n;

	make_nonce(sa, iv, nonce);
	if (ctx == NULL || EVP_DecryptInit_ex(ctx, cipher(sa), NULL, sa->key, nonce) != 1 ||
		EVP_DecryptUpdate(ctx, NULL, &n, aad, aad_len) != 1 ||
		EVP_DecryptUpdate(ctx, text, &n, text, len) != 1 ||
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, ICV, (void *)(uintptr_t)icv) != 1 ||
		EVP_DecryptFinal_ex(ctx, last, &n) != 1)
		return -1;
	return 0;
}

#endif
