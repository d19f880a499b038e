ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x101 aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 64
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x102 aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 96
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x103 aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0f1011121314151617a0a1a2a3 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x104 aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fa0a1a2a3 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x105 aead 'rfc7539esp(chacha20,poly1305)' 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fa0a1a2a3 128
# A key as a string, and one with an odd number of digits.
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x106 aead 'rfc4106(gcm(aes))' abcdefghijklmnopqrst 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x107 aead 'rfc4106(gcm(aes))' 0x102030405060708090a0b0c0d0e0fa0a1a2a3a4 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x108 aead 'rfc4106(gcm(aes))' 0x0102030405060708090a0b0c0d0e0fa0a1a2a3a 128
ip xfrm state list nokeys
ip xfrm state list
ip -s xfrm state list
# Lengths that the kernel refuses.
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x109 aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0f 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x109 aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 120
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x109 aead 'rfc7539esp(chacha20,poly1305)' 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x109 aead 'rfc7539esp(chacha20,poly1305)' 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fa0a1a2a3 96
ip xfrm state count
