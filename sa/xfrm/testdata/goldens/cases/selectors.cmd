ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x501 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 sel src 10.0.0.0/8 dst 10.0.0.2/32 proto udp sport 5000 dport 53
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x502 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 sel proto tcp dport 443
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x503 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 sel dst 10.0.0.2 proto icmp type 8 code 0
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x504 sel src 10.0.0.1/255.255.255.0 dst 10.0.0.2 proto 132 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x505 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 sel src 10.0.0.1 dst 10.0.0.2 dev none
ip xfrm state list nokeys
ip -s xfrm state list nokeys
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto udp sport 1 dport 2
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto udp dport 0xffff
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto udp sport 0
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto sctp sport 7
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto dccp dport 7
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto icmp type 0
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto icmp type 3 code 4
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto ipv6-icmp type 135
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto any
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 sport 99
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto 6
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto 0x11
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto 253
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto esp
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto ah
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto gre
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto mobility-header
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto 4
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto OSPFIGP
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto 41
# Bits behind the prefix make another selector.
ip xfrm policy add dir out src 10.0.0.9/8 dst 10.1.0.0/16 proto udp sport 1 dport 2
ip xfrm policy add dir in src 10 dst 10.1 proto tcp
ip xfrm policy add dir in src 0x0a.010.0.1/24
ip xfrm policy add dir in dst 192.0.2.1 proto tcp
ip xfrm policy add dir in proto udp
ip xfrm policy add dir in
ip xfrm policy list
ip -s xfrm policy list
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto udp sport 1 dport 2
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto icmp sport 1
ip xfrm policy add dir out src 10.0.0.0/8 dst 10.1.0.0/16 proto tcp type 1
ip xfrm policy add dir out src 10.0.0.0/33
ip xfrm policy add dir out src 10.0.0.256
ip xfrm policy add dir out src 10.0.0.0.1
ip xfrm policy add dir out src 2001:db8::/32 dst 10.0.0.1
ip xfrm policy count
